"""What the containers of a full installation run beside the services: secrets, migrations, health."""
