import { Type } from '@sinclair/typebox'
import { crud } from '../../../api/crud'
import { area, route } from '../../../api/route'
import { getCertificates } from '../certificates/certificates'
import { ServerCertificates } from '../certificates/shapes'
import { listQuery } from '../../../core/list'
import { Shape } from '../../../core/shapes'
import { changeListing, listChanges } from '../journal/changes'
import { journalListing, listJournal } from '../journal/journal'
import { InventoryChangeList, JournalEntryList } from '../journal/shapes'
import { installAgent, installAgentOnServer } from './install'
import { getInventory } from './inventory'
import { ServerInventory, ServerPackages } from './inventory-shapes'
import {
  agentListing,
  approveAgent,
  deleteAgent,
  getAgent,
  listAgents,
  rejectAgent,
  revokeAgent,
  rotateAgentToken,
  updateAgent,
} from './management'
import { getPackages } from './packages'
import { getAgentUpdates, retryAgentUpdates, updateAgentUpdates } from './rollouts'
import {
  Agent,
  AgentApproval,
  AgentInstallation,
  AgentInstallInput,
  ServerAgentInstallInput,
  AgentList,
  AgentPatch,
  AgentTokenRotation,
  AgentUpdates,
  AgentUpdatesPatch,
  AgentWithToken,
} from './shapes'

const shownOnce =
  'They contain a key that can be used once, and are shown only in this response. Running the command again on a server with an agent updates the agent.'

export const agentRoutes = area('agents', 'Servers and cloud', [
  route({
    method: 'POST',
    path: '/v1/servers/:id/agent',
    guard: 'cloud.write',
    action: 'cloud.enrolment_key.create',
    operationId: 'installServerAgent',
    summary: 'Get the commands that install an agent on a server',
    description: `Returns commands that install the agent on a server and enroll it. ${shownOnce}`,
    body: ServerAgentInstallInput,
    status: 201,
    noLocation: true,
    response: AgentInstallation,
    secretFields: ['key', 'commands'],
    problems: ['conflict'],
    run: (ctx, { params, body }) => installAgentOnServer(ctx, params.id!, body),
  }),
  route({
    method: 'GET',
    path: '/v1/servers/:id/inventory',
    guard: 'cloud.read',
    operationId: 'getServerInventory',
    summary: 'Get the inventory of a server',
    description:
      'Returns what the agent of a server last reported: containers, systemd units, disks, disk arrays, listening sockets, mounted file systems, logged-in users, and what could not be measured. Each part has the time at which it was reported, and a reason if it is empty or unknown.',
    response: ServerInventory,
    run: (ctx, { params }) => getInventory(ctx, params.id!),
  }),
  route({
    method: 'GET',
    path: '/v1/servers/:id/packages',
    guard: 'cloud.read',
    operationId: 'listServerPackages',
    summary: 'List the packages of a server',
    description:
      'Lists the packages that are installed on a server, with their versions, as its agent last reported them. The response contains all of them, without pages. What was installed, removed, or updated is in the inventory changes.',
    query: Shape({
      q: Type.Optional(Type.String({ maxLength: 100, description: 'Only packages whose names contain this text, in any case.' })),
    }),
    response: ServerPackages,
    run: (ctx, { params, query }) => getPackages(ctx, params.id!, query),
  }),
  route({
    method: 'GET',
    path: '/v1/servers/:id/certificates',
    guard: 'cloud.read',
    operationId: 'getServerCertificates',
    summary: 'Get the certificates of a server',
    description:
      'Returns the certificates that the agent of a server found in files, and those that its TCP ports present. `on_disk_not_served` is true if a certificate was renewed on disk, but the service still presents the previous one. The agent looks for certificates every hour, after files with certificates have changed, and when you perform the action `collect`.',
    response: ServerCertificates,
    run: (ctx, { params }) => getCertificates(ctx, params.id!),
  }),
  route({
    method: 'GET',
    path: '/v1/servers/:id/inventory/changes',
    guard: 'cloud.read',
    operationId: 'listServerInventoryChanges',
    summary: 'List changes of the inventory of a server',
    description:
      'Lists what has changed in the inventory of a server, newest first: listening ports, file systems, disks, disk arrays, containers and their images, installed packages, and facts such as the kernel or the size of the memory. The first report of an agent contains no changes. Changes are kept for 365 days, at most 5,000 of packages and 5,000 others of each server. At most 2,000 changes of packages and 1,000 others are recorded a day.',
    query: listQuery(changeListing),
    response: InventoryChangeList,
    run: (ctx, { params, query }) => listChanges(ctx, params.id!, query),
  }),
  route({
    method: 'GET',
    path: '/v1/servers/:id/journal',
    guard: 'cloud.read',
    operationId: 'listServerJournal',
    summary: 'List the journal of a server',
    description:
      'Lists what the agent of a server noticed, newest first: events, such as a unit that failed or a start of the server, and moments in which the server was busy, with the processes that used the most CPU time and memory. Entries are kept for 90 days, at most 5,000 entries and 500 moments of each server.',
    query: listQuery(journalListing),
    response: JournalEntryList,
    run: (ctx, { params, query }) => listJournal(ctx, params.id!, query),
  }),
  route({
    method: 'POST',
    path: '/v1/agents',
    guard: 'cloud.write',
    action: 'cloud.enrolment_key.create',
    operationId: 'installAgent',
    summary: 'Get the commands that install an agent on a new server',
    description: `Returns commands that install the agent on a server that isn’t known yet and enroll it. The server is added when the agent connects for the first time. ${shownOnce}`,
    body: AgentInstallInput,
    status: 201,
    noLocation: true,
    response: AgentInstallation,
    secretFields: ['key', 'commands'],
    problems: ['conflict'],
    run: (ctx, { body }) => installAgent(ctx, body),
  }),
  route({
    method: 'GET',
    path: '/v1/agent-updates',
    guard: 'cloud.read',
    operationId: 'getAgentUpdates',
    summary: 'Get automatic updates of agents',
    description: 'Returns the policy for all agents, and the progress of automatic updates to the version of this hub.',
    response: AgentUpdates,
    run: getAgentUpdates,
  }),
  route({
    method: 'PATCH',
    path: '/v1/agent-updates',
    guard: 'cloud.write',
    action: 'cloud.agent_updates.update',
    operationId: 'updateAgentUpdates',
    summary: 'Update the policy of updates of agents',
    description: 'Sets whether agents that have no policy of their own are updated automatically.',
    body: AgentUpdatesPatch,
    response: AgentUpdates,
    isUnversioned: true,
    run: (ctx, { body }) => updateAgentUpdates(ctx, body),
  }),
  route({
    method: 'POST',
    path: '/v1/agent-updates/retry',
    guard: 'cloud.write',
    action: 'cloud.agent_updates.retry',
    operationId: 'retryAgentUpdates',
    summary: 'Continue automatic updates of agents',
    description:
      'Continues automatic updates that stopped because an update was rolled back. Again, 5% of the agents are updated first.',
    response: AgentUpdates,
    problems: ['conflict'],
    run: retryAgentUpdates,
  }),
  ...crud({
    type: 'agent',
    response: Agent,
    writes: { isUnversioned: true },
    list: {
      description: 'Lists the agents, including those that await approval or were revoked.',
      listing: agentListing,
      response: AgentList,
      run: listAgents,
    },
    get: { description: 'Returns an agent.', run: getAgent },
    update: {
      description: 'Updates the settings that the agent gets with its next report, and how it is updated.',
      body: AgentPatch,
      run: updateAgent,
    },
    delete: {
      description:
        'Deletes an agent. Its token stops working immediately, and the agent has to be enrolled again. The server and its metrics are kept.',
      problems: ['conflict'],
      run: deleteAgent,
    },
    verbs: {
      approve: {
        description:
          'Approves an agent that awaits approval, and links it to a server. The agent gets its token with its next request, within ten seconds. The current agent of the server is revoked.',
        body: AgentApproval,
        problems: ['conflict', 'plan_limit_reached'],
        run: approveAgent,
      },
      reject: {
        description: 'Rejects an agent that awaits approval. It can’t be approved later.',
        problems: ['conflict'],
        run: rejectAgent,
      },
      rotate: {
        summary: 'Rotate the token of an agent',
        description:
          'Creates a new token, to be stored on the server. The old one stays valid for the grace period, a day by default. The key with which the agent signs its requests stays the same.',
        body: AgentTokenRotation,
        response: AgentWithToken,
        secretFields: ['token'],
        problems: ['conflict'],
        run: rotateAgentToken,
      },
      revoke: {
        description:
          'Revokes an agent: its requests are rejected with `token_revoked`, and the program on the server exits and is not restarted. To use it again, enroll it with a new key.',
        problems: ['conflict'],
        run: revokeAgent,
      },
    },
  }),
])
