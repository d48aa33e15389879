import { systemActor } from '../core/change'
import type { AuditActor, AuditContext } from '../core/db/tables'
import type { Config } from '../core/config'
import type { Hub } from '../core/hub'
import { Failure } from './failure'

/** Whoever may read the data folder: how the audit log names what the command line did. */
export const byOperator: { actor: AuditActor; context: AuditContext } = {
  actor: { ...systemActor('command line'), type: 'operator' },
  context: { ip: null, user_agent: null, request_id: null, idempotency_key: null, channel: 'cli' },
}

/** Opens the database and the keys for one command and closes them after it; works beside a running hub. */
export async function withHub<T>(config: Config, fn: (hub: Hub) => Promise<T>): Promise<T> {
  const { openHub } = await import('../hub/run')
  const hub = await openHub(config)
  try {
    return await fn(hub)
  } finally {
    await hub.store.close()
  }
}

/**
 * The id of the workspace that was named by id or name, or of the operator's own.
 * @throws Failure when there is none of that name
 */
export async function workspaceIdOf(hub: Hub, named: string | undefined): Promise<string> {
  const { findWorkspace, operatorWorkspace } = await import('../access/workspaces')
  if (named === undefined) return (await operatorWorkspace(hub.read)).id
  const found = await findWorkspace(hub.read, named)
  if (!found) throw new Failure(`There is no workspace with the id or name ${named}.`)
  return found.id
}
