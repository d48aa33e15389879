import { eq } from 'drizzle-orm'
import type { Ctx } from '../../../core/ctx'
import type { Reader, Tx } from '../../../core/db/transaction'
import type { Hub } from '../../../core/hub'
import { permissionMissing, Problem } from '../../../core/problem'
import { findRow } from '../../../core/rows'
import type { CommandName, CommandParams } from '../../../wire/agent-command'
import { profilesIn, profilePermission } from '../../../wire/agent-permissions'
import { fetchMs, progressOf } from '../actions/by-agent'
import { whyNotAsRoot } from '../available-actions'
import { servers } from '../tables'
import { serverRows } from '../view'
import { commandById } from './command-results'
import { agentOf } from './rows'
import { sendCommand } from './send-command'

// Agents that issue and install certificates.

/** Where a certificate is installed. */
interface Place {
  serverId: string
  installProfile: string
}

/** An agent that can install a certificate. */
interface Installer {
  agentId: string
  isConnected: boolean
  /** Name of the server. */
  server: string
}

/** Why there is none: the field that is wrong, and a sentence. */
interface NoInstaller {
  field: 'server_id' | 'install_profile'
  detail: string
}

/** The agent that installs a certificate. */
export async function installerOf(read: Reader, { serverId, installProfile }: Place): Promise<Installer | NoInstaller> {
  const [server] = await read.select().from(servers).where(eq(servers.id, serverId))
  if (!server || server.deletedAt !== null) return { field: 'server_id', detail: 'The server was deleted.' }
  const agent = await agentOf(read, server.id)
  if (!agent) return { field: 'server_id', detail: `The server ${server.name} has no agent.` }
  const reason = whyNotAsRoot(agent)
  if (reason !== null) return { field: 'server_id', detail: reason }
  const profiles = profilesIn(agent.allow)
  if (profiles.length === 0)
    return {
      field: 'server_id',
      detail: `The owner of the server ${server.name} doesn’t allow it: /etc/bailiwick-agent/agent.conf must contain an install profile, such as \`install.${installProfile} = …\`.`,
    }
  if (!agent.allow.includes(profilePermission(installProfile)))
    return {
      field: 'install_profile',
      detail: `The server ${server.name} has no install profile named ${JSON.stringify(installProfile)}. Its profiles: ${profiles.join(', ')}.`,
    }
  return { agentId: agent.id, isConnected: agent.state === 'reporting', server: server.name }
}

/** Whether there is a server that the caller may let install certificates. @throws Problem 403 without the permission for servers */
export async function canInstallOn(ctx: Ctx, serverId: string): Promise<boolean> {
  if (!ctx.permissions.has('cloud.write')) throw permissionMissing('cloud.write')
  try {
    return (await findRow(ctx.hub.read, ctx, serverRows, serverId)).deletedAt === null
  } catch (error) {
    if (error instanceof Problem) return false
    throw error
  }
}

type CertificateCommand = Extract<CommandName, `certificate_${string}`>

/** Sends a command to an agent, which must fetch it within a minute. @returns its ID, and what has to follow */
export const sendToInstaller = <Name extends CertificateCommand>(
  tx: Tx,
  hub: Hub,
  command: {
    agentId: string
    name: Name
    params: CommandParams[Name]
    requestedBy: Parameters<typeof sendCommand>[2]['requestedBy']
  },
) => sendCommand(tx, hub, { ...command, lifeMs: fetchMs })

/** How a command progresses. `output`: what it returned, once it is done. Null if it doesn’t exist. */
export async function installerProgress(read: Reader, commandId: string, now: number) {
  const command = await commandById(read, commandId)
  return command && { progress: progressOf(command, now), output: command.output }
}
