from sqlalchemy import MetaData

from shared.database.migrations import run_migrations

run_migrations(MetaData())
