import { systemActor } from '../core/change'
import type { AuditActor, AuditContext } from '../core/db/tables'
import type { Config } from '../core/config'
import type { Hub } from '../core/hub'
import { wantedMasterKey } from '../core/installation'
import { Failure } from './failure'

/** Whoever may read the data folder: how the audit log names what the command line did. */
export const byOperator: { actor: AuditActor; context: AuditContext } = {
  actor: { ...systemActor('command line'), type: 'operator' },
  context: { ip: null, user_agent: null, request_id: null, idempotency_key: null, channel: 'cli' },
}

/**
 * Opens the database and the keys for one command and closes them after it; works beside a running hub.
 * @throws Failure where there is no installation
 */
export async function withHub<T>(config: Config, fn: (hub: Hub) => Promise<T>): Promise<T> {
  if ((await wantedMasterKey(config)) === null) throw new Failure(noInstallation(config))
  return await withNewHub(config, undefined, fn)
}

/**
 * The same, where there may be none yet: then it is made.
 * @param workspace what the command names with --workspace; of an installation that is still to be made it is known what it has
 * @throws Failure when there is no such workspace, before anything is made
 */
export async function withNewHub<T>(config: Config, workspace: string | undefined, fn: (hub: Hub) => Promise<T>): Promise<T> {
  if (workspace !== undefined && (await wantedMasterKey(config)) === null) {
    const { firstWorkspace } = await import('../access/workspaces')
    if (workspace !== firstWorkspace) throw new Failure(noWorkspace(workspace))
  }
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
  if (!found) throw new Failure(noWorkspace(named))
  return found.id
}

/** What a command says that looks for an installation where there is none. */
export const noInstallation = ({ databaseUrl, data }: Config): string =>
  databaseUrl
    ? 'There is no installation in the database of BAILIWICK_DATABASE_URL yet; bailiwick serve makes one.'
    : `There is no installation in ${data}: name its folder with --data. bailiwick serve makes a new one.`

const noWorkspace = (named: string): string => `There is no workspace with the id or name ${named}.`
