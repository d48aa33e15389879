import { X509Certificate } from 'node:crypto'
import { jobContext } from '../../../core/change'
import type { Ctx } from '../../../core/ctx'
import type { Reader, Tx } from '../../../core/db/transaction'
import type { Hub } from '../../../core/hub'
import { pemBlocks } from '../../../core/net/pem'
import { invalid, Problem } from '../../../core/problem'
import { saveRow, targetOf } from '../../../core/rows'
import { sha256Hex } from '../../../core/sha256'
import type { KeyType } from '../../../core/x509/private-key'
import type { CommandParams } from '../../../wire/agent-command'
import { updateIssued } from '../../certificates/issued'
import { canInstallOn, installerOf, installerProgress, sendToInstaller } from '../../servers/agents/certificates'
import { CsrError, parseCsr } from './csr'
import { changerOf, failIssuing, lockManaged, random } from './finish'
import { next, type IssueCommit, type Scene } from './order-state'
import { managedRows, managedView } from './rows'
import { renewalAt } from './schedule'
import { delivering } from './start'
import type { ManagedCertificateRow } from './tables'

/** How long a step waits for an agent that is not connected. */
export const agentMs = 3_600_000
const lookAgainMs = 15_000
const pollMs = 1_000
/** In a certificate request of the agent, all names together have at most this many characters. */
const maxNameCharacters = 8000

/** @throws Problem 409 */
async function requireInstaller(read: Reader, { deliverServerId, installProfile }: ManagedCertificateRow) {
  const found = await installerOf(read, { serverId: deliverServerId!, installProfile: installProfile! })
  if ('detail' in found) throw new Problem('conflict', found.detail)
  return found
}

/**
 * Checks where a certificate is to be delivered.
 * @throws Problem 403 without the permission for servers, 409 if the server has no agent that may do it, 422
 */
export async function deliveryColumns(
  ctx: Ctx,
  { server_id: serverId, install_profile: installProfile }: { server_id: string; install_profile: string },
  names: readonly string[],
) {
  if (!(await canInstallOn(ctx, serverId)))
    throw invalid([{ pointer: '#/deliver/server_id', code: 'not_found', detail: 'There is no server with this ID.' }])
  if (names.join('').length > maxNameCharacters)
    throw invalid([
      {
        ...{ pointer: '#/names', code: 'too_long' },
        detail: `must have at most ${maxNameCharacters} characters in all names together with the key mode \`agent\`.`,
      },
    ])
  const found = await installerOf(ctx.hub.read, { serverId, installProfile })
  if (!('detail' in found)) return { deliverServerId: serverId, installProfile }
  const errors = [{ pointer: `#/deliver/${found.field}`, code: 'not_allowed', detail: found.detail }]
  if (found.field === 'install_profile') throw invalid(errors)
  throw new Problem('conflict', found.detail, { errors })
}

/** Waits until the agent is connected, before anything is ordered. Null if it is, or if none is necessary. */
export async function awaitAgent({ hub, row, state }: Scene): Promise<IssueCommit | null> {
  if (row.keyMode !== 'agent') return null
  const { isConnected, server } = await requireInstaller(hub.read, row)
  return isConnected ? null : waitForAgent(hub, state, server)
}

/** @throws Problem if it took too long */
function waitForAgent({ clock }: Hub, state: Scene['state'], server: string): IssueCommit {
  const now = clock.now()
  const deadline = state.deadline || now + agentMs
  const detail = `The agent of the server ${server} is not connected.`
  if (now >= deadline) throw new Problem('provider_failed', detail, { fields: { failure: 'timeout' } })
  const waiting = `Waiting for the agent of the server ${server}, which is not connected.`
  return async () => ({ result: next(state, { deadline, commandId: null }, { at: now + lookAgainMs, detail: waiting }) })
}

/** Whether the command may not have been run, so that it is sent again. */
const mayPass = ({ code, extras }: Problem): boolean => code === 'interrupted' || extras.fields?.failure === 'timeout'

/** Lets the agent run a command, and continues with its output. @throws Problem */
async function atServer<Name extends 'certificate_csr' | 'certificate_install'>(
  scene: Scene,
  name: Name,
  params: CommandParams[Name],
  done: (output: string | null) => IssueCommit,
): Promise<IssueCommit> {
  const { hub, row, work, state } = scene
  const { agentId, isConnected, server } = await requireInstaller(hub.read, row)
  const now = hub.clock.now()
  const command = state.commandId === null ? null : await installerProgress(hub.read, state.commandId, now)
  const again: IssueCommit = async () => ({ result: next(state, {}, { at: now + pollMs }) })
  if (!command) {
    if (!isConnected) return waitForAgent(hub, state, server)
    const { type, id, name: by } = work.actor
    const draft = { agentId, name, params, requestedBy: { type, id, name: by } }
    return async tx => {
      const { id: commandId, ...consequences } = await sendToInstaller(tx, hub, draft)
      return { ...consequences, result: next(state, { commandId }, { at: now + pollMs, detail: `On the server ${server}.` }) }
    }
  }
  const { progress, output } = command
  if (progress === 'running') return again
  if (progress === 'done') return done(output)
  const failed = (problem: Problem): IssueCommit =>
    mayPass(problem) && now < state.deadline
      ? async () => ({ result: next(state, { commandId: null }, { at: now + lookAgainMs, detail: problem.detail }) })
      : tx => failIssuing(tx, changerOf(hub, row.workspaceId, work.actor), row.id, { problem, retryAfterMs: null })
  return progress.end(failed, again)
}

/** Lets the agent create a key, which stays there, and continues with the certificate request. @throws Problem */
export const requestFromAgent = (scene: Scene, done: (csr: string) => IssueCommit): Promise<IssueCommit> => {
  const { names, keyType, installProfile } = scene.row
  const params = { names, key_type: keyType as KeyType, install_profile: installProfile! }
  return atServer(scene, 'certificate_csr', params, output => done(checkedRequest(output ?? '', scene.row)))
}

/** @throws Problem if it is not what the agent was asked for */
function checkedRequest(pem: string, { names, keyType }: ManagedCertificateRow): string {
  try {
    const request = parseCsr(pem)
    if (request.names.toSorted().join() !== names.toSorted().join()) throw new CsrError('has other names.')
    if (request.keyType !== keyType) throw new CsrError('has a key of another type.')
    return request.pem
  } catch (error) {
    if (!(error instanceof CsrError)) throw error
    throw new Problem('provider_failed', `The certificate request of the agent can’t be used: it ${error.message}`, {
      fields: { failure: 'invalid_response' },
    })
  }
}

/** Lets the agent install the certificate. @throws Problem */
export async function deliver(scene: Scene): Promise<IssueCommit> {
  const { hub, row, work } = scene
  if (work.state === null) await work.report({ step: 'deliver', progress: 0 })
  const chain = row.chain!
  const fingerprint = sha256Hex(new X509Certificate(pemBlocks(chain)[0]!).raw)
  return await atServer(
    scene,
    'certificate_install',
    { chain, fingerprint, install_profile: row.installProfile! },
    output =>
      async (tx): ReturnType<IssueCommit> => {
        const current = await lockManaged(tx, row.id)
        if (!current) return { result: { failed: new Problem('not_found', 'The managed certificate was deleted.') } }
        const stored = await saveRow(tx, { hub }, managedRows, current, {
          ...{ status: 'valid', deliveredAt: hub.clock.now(), attempts: 0, lastError: null },
          ...(await renewalOf(tx, hub, current)),
        })
        const audit = {
          ...{ workspaceId: row.workspaceId, action: delivering.audit, actor: work.actor, context: jobContext },
          targets: [targetOf(managedRows, row), { type: 'server', id: row.deliverServerId!, name: null }],
          ...{ before: managedView(current), after: managedView(stored) },
        }
        return {
          audits: [audit],
          result: { done: { not_after: new Date(row.notAfter!).toISOString(), ...(output && { output }) } },
        }
      },
  )
}

/** Schedules the renewal of a certificate again that could not be delivered at first. */
async function renewalOf(tx: Tx, hub: Hub, row: ManagedCertificateRow): Promise<Partial<ManagedCertificateRow>> {
  const { issuedAt, notBefore, notAfter, ari } = row
  if (row.nextRenewalAt !== null || row.renew !== 'auto' || !issuedAt || !notBefore || !notAfter) return {}
  const nextRenewalAt = renewalAt({ issuedAt, notBefore, notAfter, ari }, hub.clock.now(), random)
  await updateIssued(tx, row.workspaceId, row.certificateId, { renewalDueAt: nextRenewalAt }, hub.clock.now())
  return { nextRenewalAt }
}

/** Whether there is a certificate that still has to be delivered, and that is not due to be renewed. */
export function isUndelivered(row: ManagedCertificateRow, now: number): boolean {
  const { keyMode, deliveredAt, revokedAt, notBefore, notAfter } = row
  const isIssued = keyMode === 'agent' && row.chain !== null && deliveredAt === null && revokedAt === null
  return isIssued && notAfter! - now > (notAfter! - notBefore!) / 3
}
