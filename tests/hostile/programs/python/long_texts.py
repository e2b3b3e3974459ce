"""Long texts fill the engine's memory."""

from inferlet import Context, Model, runtime


async def main(input):
    model = Model.load(runtime.models()[0])
    text = "word " * (input["bytes"] // 5)
    ways = {
        "encode": lambda: len(model.tokenizer().encode(text)),
        "turn": lambda: len(Context(model).user(text).buffer()),
        "decode": lambda: len(model.tokenizer().decode([1] * input["bytes"])),
    }
    try:
        return {"size": ways[input["way"]]()}
    except Exception as error:
        return {"refused": error.code}
