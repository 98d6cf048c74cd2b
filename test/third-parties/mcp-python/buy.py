"""Buys one thing over MCP: lists the tools, declares, waits for a person, pays twice by one name, reads the trace."""

import asyncio
import json
import os
import sys

import httpx2
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client

mode = sys.argv[1]
url = os.environ["BURSAR_MCP_URL"]
headers = {"Authorization": f"Bearer {os.environ['BURSAR_TOKEN']}"}
ref = f"lamp {mode}"


def told(answer):
    """The JSON of a tool's answer: text and structured content are the same."""
    body = json.loads(answer.content[0].text)
    assert not answer.is_error, body
    assert body == answer.structured_content, "text and structured content differ"
    return body


async def buy(client):
    tools = (await client.list_tools()).tools
    print(f"{mode}: protocol {client.protocol_version}, {len(tools)} tools")
    call = client.call_tool
    declared = told(await call("intents_declare", {**json.loads(os.environ["WISH"]), "purchaseRef": ref}))
    intent = {"intentId": declared["result"]["id"]}
    print(f"{mode}: declared, {declared['result']['status']}")
    assert declared["next"]["tool"] == "intents_wait"
    for _ in range(20):
        waited = told(await call("intents_wait", {**intent, "waitSeconds": 10}))
        if waited["result"]["status"] != "pending_approval":
            break
    print(f"{mode}: {waited['result']['status']}")
    payment = {**intent, "targetUrl": os.environ["TARGET_URL"], "purchaseRef": ref}
    paid = told(await call("checkout_execute", payment))["result"]
    again = told(await call("checkout_execute", payment))["result"]
    assert paid["status"] == "paid" and again["transactionId"] == paid["transactionId"]
    print(f"{mode}: paid once in two calls")
    trace = told(await call("trace_get", {"anyId": paid["transactionId"]}))["result"]
    print(f"{mode}: the trace has {len(trace['entries'])} entries")


async def main():
    async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
        async with Client(streamable_http_client(url, http_client=http), mode=mode) as client:
            await buy(client)


asyncio.run(main())
