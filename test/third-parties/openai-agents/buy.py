"""Buys one thing over MCP: lists the tools, declares, waits for a person, pays twice by one name, reads the trace."""

import asyncio
import json
import os

from agents.mcp import MCPServerStreamableHttp

ref = "lamp openai-agents"


def told(answer):
    """The JSON of a tool's answer: text and structured content are the same."""
    body = json.loads(answer.content[0].text)
    assert not answer.is_error, body
    assert body == answer.structured_content, "text and structured content differ"
    return body


async def main():
    params = {
        "url": os.environ["BURSAR_MCP_URL"],
        "headers": {"Authorization": f"Bearer {os.environ['BURSAR_TOKEN']}"},
    }
    async with MCPServerStreamableHttp(params=params, client_session_timeout_seconds=60) as server:
        print(f"{len(await server.list_tools())} tools")
        call = server.call_tool
        declared = told(await call("intents_declare", {**json.loads(os.environ["WISH"]), "purchaseRef": ref}))
        intent = {"intentId": declared["result"]["id"]}
        print(f"declared, {declared['result']['status']}")
        for _ in range(20):
            waited = told(await call("intents_wait", {**intent, "waitSeconds": 10}))
            if waited["result"]["status"] != "pending_approval":
                break
        print(waited["result"]["status"])
        payment = {**intent, "targetUrl": os.environ["TARGET_URL"], "purchaseRef": ref}
        paid = told(await call("checkout_execute", payment))["result"]
        again = told(await call("checkout_execute", payment))["result"]
        assert paid["status"] == "paid" and again["transactionId"] == paid["transactionId"]
        print("paid once in two calls")
        trace = told(await call("trace_get", {"anyId": paid["transactionId"]}))["result"]
        print(f"the trace has {len(trace['entries'])} entries")


asyncio.run(main())
