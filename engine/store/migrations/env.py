"""Alembic's environment: migrates on the connection that it is given."""

from alembic import context

from engine.store.tables import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
with context.begin_transaction():
    context.run_migrations()
