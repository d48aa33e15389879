import type { Ctx } from '../../../core/ctx'
import type { Hub } from '../../../core/hub'
import { notFound } from '../../../core/problem'
import { findRow } from '../../../core/rows'
import { createEnrolmentKey } from '../enrolment-keys/enrolment-keys'
import type { EnrolmentKeyView } from '../enrolment-keys/shapes'
import { serverRows } from '../view'
import { selfSignedCertificate } from './hub-certificate'
import { hubPublicKey } from './hub-key'
import { installCommands, installScript } from './install-commands'
import type { AgentInstallationView, AgentInstallInput, ServerAgentInstallInput } from './shapes'

/** Creates a key for the agent of one server, and the commands that install it there. @throws Problem 404, 409 */
export async function installAgentOnServer(
  ctx: Ctx,
  serverId: string,
  input: ServerAgentInstallInput,
): Promise<AgentInstallationView> {
  const { name, deletedAt } = await findRow(ctx.hub.read, ctx, serverRows, serverId)
  if (deletedAt !== null) throw notFound('server')
  const named = { ...input, name: `Agent of ${name}`.slice(0, 100), server_id: serverId, monitor: false }
  return await createEnrolmentKey(ctx, named, await installationAt(ctx.hub))
}

/** Creates a key for the agent of a server that isn’t known yet, and the commands that install it there. @throws Problem 409 */
export const installAgent = async (
  ctx: Ctx,
  { name = 'New server', ...input }: AgentInstallInput,
): Promise<AgentInstallationView> => await createEnrolmentKey(ctx, { ...input, name }, await installationAt(ctx.hub))

/** Returns what user data needs to install the agent of a server. Reads the certificate of the hub. */
export async function agentScriptAt(hub: Hub): Promise<(key: string) => string> {
  const of = { baseUrl: hub.baseUrl, hubKey: hubPublicKey(hub), certificate: await selfSignedCertificate(hub), allow: [] }
  return key => installScript({ ...of, key })
}

async function installationAt(hub: Hub) {
  const [certificate, hubKey] = [await selfSignedCertificate(hub), hubPublicKey(hub)]
  return ({ id, key, allow, expires_at }: EnrolmentKeyView & { key: string }): AgentInstallationView => ({
    enrolment_key_id: id,
    key,
    commands: installCommands({ baseUrl: hub.baseUrl, hubKey, key, certificate, allow }),
    expires_at,
  })
}
