import click


@click.command(name="check")
def check_command() -> int:
    return 0
