import click


@click.command(name="manifest")
def manifest_command() -> int:
    return 0
