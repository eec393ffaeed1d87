"""PydanticAI: a toolset that a session narrows. A refused call is retried by the model, which sees the reason."""

from dataclasses import dataclass, replace
from typing import Any

from grammata_agents import Session
from library import APIS, PROCEDURE, REQUEST, SCRIPT
from pydantic_ai import Agent, ModelRetry, RunContext
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.toolsets import AbstractToolset, FunctionToolset, ToolsetTool, WrapperToolset


# the example
@dataclass
class Held(WrapperToolset[None]):
    session: Session

    async def get_tools(self, ctx: RunContext[None]) -> dict[str, ToolsetTool[None]]:
        tools = await super().get_tools(ctx)
        open_ = {tool["function"]["name"]: tool["function"]["parameters"] for tool in self.session.tools()}
        for name in tools.keys() & open_.keys():
            definition = replace(tools[name].tool_def, parameters_json_schema=open_[name])
            tools[name] = replace(tools[name], tool_def=definition)
        return {name: tool for name, tool in tools.items() if name in open_}

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[None], tool: ToolsetTool[None]
    ) -> Any:
        if obstacle := self.session.call(name, tool_args):
            raise ModelRetry(str(obstacle))
        result = await super().call_tool(name, tool_args, ctx, tool)
        self.session.result(result)
        return result


# the end of the example


def ask(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    """Plays the model."""
    for part in messages[-1].parts:
        if isinstance(part, ToolReturnPart):
            print("tool:", part.content)
    print("open:", ", ".join(tool.name for tool in info.function_tools))
    number = len(messages) // 2
    if number == len(SCRIPT):
        return ModelResponse([TextPart(next(node.text for node in session.open() if node.is_closing))])
    return ModelResponse([ToolCallPart(*SCRIPT[number])])


session = PROCEDURE.session()
session.hear(REQUEST)
library: AbstractToolset[None] = FunctionToolset(list(APIS.values()))
agent = Agent(FunctionModel(ask), toolsets=[Held(library, session)])
print("model:", agent.run_sync(REQUEST).output)
session.say("lent")
print("complete:", session.is_complete, "valid:", PROCEDURE.verify(session.log).is_valid)
