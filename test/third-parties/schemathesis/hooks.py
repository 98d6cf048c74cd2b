"""
Signs what the card network would send, gives most calls an Idempotency-Key of their own (Schemathesis repeats a few
values, so that nearly everything would be a 409), lets each come from an address of its own (more than ten wrong
dashboard secrets from one are a 429), leaves out wrong owners in a header that is ignored, and keeps made-up addresses
inside this machine. Everything else that Schemathesis needs stands in its configuration.
"""

import hashlib
import hmac
import os
import re
import time
import uuid
from urllib.parse import urlsplit, urlunsplit

import schemathesis
from requests.auth import AuthBase


class NetworkSignature(AuthBase):
    def __call__(self, request):
        if request.headers.get("X-Network-Signature") != "to be signed":
            return request
        body = request.body or b""
        raw = body.encode() if isinstance(body, str) else body
        seconds = str(int(time.time()))
        signed = f"{seconds}.{request.method} {request.path_url}.".encode() + raw
        digest = hmac.new(os.environ["NETWORK_KEY"].encode(), signed, hashlib.sha256)
        request.headers["X-Network-Signature"] = f"t={seconds},v1={digest.hexdigest()}"
        return request


@schemathesis.hook
def filter_case(context, case):
    """X-Owner-Id counts with the dashboard secret only; with a key, a wrong one is ignored and rightly not refused."""
    owner = (case.headers or {}).get("X-Owner-Id")
    return owner is None or re.fullmatch(r"own_[a-z0-9]{8,64}", str(owner)) is not None


@schemathesis.hook
def before_call(context, case, kwargs):
    if case.operation.path.startswith("/network/"):
        kwargs["auth"] = NetworkSignature()
    case.headers = case.headers or {}
    # Not by `random`, which begins anew with every example.
    case.headers["X-Forwarded-For"] = ".".join(str(part) for part in (10, *os.urandom(3)))
    key = case.headers.get("Idempotency-Key")
    if isinstance(key, str) and key and not key.startswith("again"):
        case.headers["Idempotency-Key"] = f"again-{len(key)}" if len(key) % 8 == 7 else str(uuid.uuid4())
    if isinstance(case.body, dict):
        for field in ("url", "targetUrl"):
            if isinstance(case.body.get(field), str):
                case.body[field] = to_nowhere(case.body[field])


def to_nowhere(url):
    """A made-up host becomes one that never resolves: deliveries must not reach strangers."""
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        return url
    if not host or "." not in host or url.startswith(os.environ["SANDBOX_URL"]):
        return url
    return urlunsplit(parts._replace(netloc="made-up.invalid"))
