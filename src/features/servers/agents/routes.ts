import { crud } from '../../../api/crud'
import { area } from '../../../api/route'
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
import { Agent, AgentApproval, AgentList, AgentPatch, AgentTokenRotation, AgentWithToken } from './shapes'

export const agentRoutes = area(
  'agents',
  'Servers and cloud',
  crud({
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
    update: { description: 'Updates the settings that the agent gets with its next report.', body: AgentPatch, run: updateAgent },
    delete: {
      description:
        'Deletes an agent. Its token stops working immediately, and the agent has to be enrolled again. The server and its metrics are kept.',
      problems: ['conflict'],
      run: deleteAgent,
    },
    verbs: {
      approve: {
        description:
          'Approves an agent that awaits approval, and links it to a server. It gets its token when it asks again, within ten seconds. The current agent of the server is revoked.',
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
          'Revokes an agent: its requests are rejected with `token_revoked`, and the program on the server stops for good. To use it again, enroll it with a new key.',
        problems: ['conflict'],
        run: revokeAgent,
      },
    },
  }),
)
