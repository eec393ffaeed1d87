"""A suite that checks the structured output of servers that speak OpenAI's protocol."""
