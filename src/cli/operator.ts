import { systemActor } from '../core/change'
import type { AuditActor, AuditContext } from '../core/db/tables'
import type { Config } from '../core/config'
import type { Hub } from '../core/hub'
import { requiredMasterKeyId } from '../core/installation'
import { Failure } from './failure'

/** Actor and context of audit events of the command line. */
export const byOperator: { actor: AuditActor; context: AuditContext } = {
  actor: { ...systemActor('command line'), type: 'operator' },
  context: { ip: null, user_agent: null, request_id: null, idempotency_key: null, channel: 'cli' },
}

/**
 * Opens the database and the keys for one command, also while a hub is running.
 * @throws Failure if there is no installation
 */
export async function withHub<T>(config: Config, fn: (hub: Hub) => Promise<T>): Promise<T> {
  if ((await requiredMasterKeyId(config)) === null) throw new Failure(noInstallation(config))
  return await withNewHub(config, undefined, fn)
}

/**
 * Like `withHub`, but creates the installation if there is none.
 * @param workspace value of --workspace, checked before anything is created: a new installation has only the initial workspace
 * @throws Failure if there is no such workspace
 */
export async function withNewHub<T>(config: Config, workspace: string | undefined, fn: (hub: Hub) => Promise<T>): Promise<T> {
  if (workspace !== undefined && (await requiredMasterKeyId(config)) === null) {
    const { initialWorkspaceName } = await import('../access/workspaces')
    if (workspace !== initialWorkspaceName) throw new Failure(noWorkspace(workspace))
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
 * Resolves a workspace by id or name. Defaults to the operator's workspace.
 * @throws Failure if there is no such workspace
 */
export async function workspaceIdOf(hub: Hub, idOrName: string | undefined): Promise<string> {
  const { findWorkspace, operatorWorkspace } = await import('../access/workspaces')
  if (idOrName === undefined) return (await operatorWorkspace(hub.read)).id
  const found = await findWorkspace(hub.read, idOrName)
  if (!found) throw new Failure(noWorkspace(idOrName))
  return found.id
}

/** The error of commands that need an existing installation. */
export const noInstallation = ({ databaseUrl, data }: Config): string =>
  databaseUrl
    ? 'No installation found in the database of BAILIWICK_DATABASE_URL. Run bailiwick serve to create one.'
    : `No installation found in ${data}. Use --data to choose its folder, or run bailiwick serve to create one.`

const noWorkspace = (idOrName: string): string => `No workspace has the ID or name ${idOrName}.`
