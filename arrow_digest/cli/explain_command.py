import click


@click.command(name="explain")
def explain_command() -> int:
    return 0
