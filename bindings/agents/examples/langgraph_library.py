"""LangGraph: a node of tools that are narrowed to what is open. A refused call goes back with the reason."""

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langgraph.graph import END, START, MessagesState, StateGraph
from library import APIS, PROCEDURE, REQUEST, SCRIPT

session = PROCEDURE.session()


def ask(messages: list[AnyMessage], tools: list[dict]) -> AIMessage:
    """Plays the model; with a real one, call `model.bind_tools(tools).invoke(messages)`."""
    print("open:", ", ".join(tool["function"]["name"] for tool in tools))
    number = sum(isinstance(message, AIMessage) for message in messages)
    if number == len(SCRIPT):
        return AIMessage(next(node.text for node in session.open() if node.is_closing))
    name, arguments = SCRIPT[number]
    return AIMessage("", tool_calls=[{"name": name, "args": arguments, "id": str(number)}])


# the example
def agent(state: MessagesState) -> MessagesState:
    return {"messages": [ask(state["messages"], session.tools())]}


def tools(state: MessagesState) -> MessagesState:
    answers: list[AnyMessage] = []
    for call in state["messages"][-1].tool_calls:
        if obstacle := session.call(call["name"], call["args"]):
            answers.append(ToolMessage(f"refused: {obstacle}", tool_call_id=call["id"], status="error"))
            continue
        api = APIS[call["name"]]
        result = api(**call["args"])
        session.result(result)
        answers.append(ToolMessage(str(result), tool_call_id=call["id"]))
    return {"messages": answers}


graph = StateGraph(MessagesState)
graph.add_node("agent", agent)
graph.add_node("tools", tools)
graph.add_edge(START, "agent")
graph.add_conditional_edges("agent", lambda state: "tools" if state["messages"][-1].tool_calls else END)
graph.add_edge("tools", "agent")
# the end of the example

session.hear(REQUEST)
for message in graph.compile().invoke({"messages": [HumanMessage(REQUEST)]})["messages"]:
    calls = [f"{call['name']}({call['args']})" for call in getattr(message, "tool_calls", [])]
    print(f"{message.type}:", message.content or ", ".join(calls))
session.say("lent")
print("complete:", session.is_complete, "valid:", PROCEDURE.verify(session.log).is_valid)
