import click


@click.command(name="diff")
def diff_command() -> int:
    return 0
