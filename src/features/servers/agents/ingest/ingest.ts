import type { AnyElysia } from 'elysia'
import { area, route } from '../../../../api/route'
import { enrollAgent } from './enroll'
import { fetchCommands, receiveCommandResult } from './commands'
import { receiveLiveMetrics } from './live'
import { receiveReport } from './report'
import {
  AgentCommandResult,
  AgentCommands,
  AgentCommandsQuery,
  AgentEnrolled,
  AgentEnrolmentInput,
  AgentLiveAnswer,
  AgentLiveMetricsInput,
  AgentReportAnswer,
  AgentReportInput,
  AgentWaiting,
} from './shapes'

const signing =
  'Requires the token of the agent as a Bearer token. If the agent was enrolled with a public key, `Bailiwick-Signature` must have the form `v1 t=…,n=…,s=…`: the time in ms, which differs from the time of the hub by at most 300 seconds, the number of the request, and the Ed25519 signature in base64 of method, path with query, time, number, and SHA-256 of the body as sent in hexadecimal, separated by line feeds.'
const limits = '20 reports a minute for each agent, four a second with `backlog`, and 20 invalid ones a minute'

/** The requests of agents. */
export const agentIngestRoutes: AnyElysia = area('agent-ingest', 'Ingest', [
  route({
    method: 'POST',
    path: '/v1/ingest/agents/enrol',
    guard: 'ingest',
    action: 'cloud.agent.enroll',
    operationId: 'enrollAgent',
    summary: 'Enroll an agent',
    description:
      'Enrolls the agent that sends the request. Requires an enrolment key as a Bearer token. If someone has to approve the agent first, the response has the status 202, and the agent repeats the same request every ten seconds. Limited to 1,200 requests a minute per key.',
    body: AgentEnrolmentInput,
    // The handler checks the key first, and the body may be compressed.
    rawBody: true,
    status: 201,
    noLocation: true,
    response: AgentEnrolled,
    otherStatus: { status: 202, response: AgentWaiting, applies: result => 'state' in (result as object) },
    problems: ['invalid_token', 'token_expired', 'token_revoked', 'plan_limit_reached', 'conflict'],
    run: (ctx, { request, ip }) => enrollAgent(ctx, { request, ip }),
  }),
  route({
    method: 'POST',
    path: '/v1/ingest/agents/reports',
    guard: 'ingest',
    operationId: 'sendAgentReport',
    summary: 'Send a report of an agent',
    description: `Stores what an agent measured and knows about its server. ${signing} The body may be compressed with gzip: it has at most 1 MiB as sent, and 4 MiB decompressed. A report can be sent again: minutes that are stored already are replaced. Limited to ${limits}.`,
    body: AgentReportInput,
    rawBody: true,
    response: AgentReportAnswer,
    problems: ['invalid_token', 'token_revoked', 'conflict', 'overloaded'],
    run: ({ hub }, { request, ip }) => receiveReport(hub, { request, ip }),
  }),
  route({
    method: 'GET',
    path: '/v1/ingest/agents/commands',
    guard: 'ingest',
    operationId: 'fetchAgentCommands',
    summary: 'Fetch commands to an agent',
    description: `Returns the commands that the agent has to run, and whether it must send live metrics. With \`Prefer: wait=N\`, an empty response is returned only after N seconds; another request of the agent ends the wait. On each hub, up to 10,000 agents can wait. A command is sent again after ten seconds if the agent has not reported its result, at most three times. ${signing}`,
    query: AgentCommandsQuery,
    response: AgentCommands,
    longPoll: true,
    problems: ['invalid_token', 'token_revoked', 'conflict', 'overloaded'],
    run: ({ hub }, { request, ip, query, waiting }) => fetchCommands(hub, { request, ip }, query.run_id, waiting),
  }),
  route({
    method: 'POST',
    path: '/v1/ingest/agents/live',
    guard: 'ingest',
    operationId: 'sendAgentLiveMetrics',
    summary: 'Send live metrics of an agent',
    description: `Shows what a server does now to those who look at it, without storing it. The agent sends this every two seconds for as long as \`live_seconds\` says, after a response to its request for commands asked for it. ${signing} The body has at most 32 KiB as sent, and 128 KiB decompressed. Limited to 45 requests a minute for each agent.`,
    body: AgentLiveMetricsInput,
    rawBody: true,
    response: AgentLiveAnswer,
    problems: ['invalid_token', 'token_revoked', 'conflict'],
    run: ({ hub }, { request, ip }) => receiveLiveMetrics(hub, { request, ip }),
  }),
  route({
    method: 'POST',
    path: '/v1/ingest/agents/command-results',
    guard: 'ingest',
    operationId: 'sendAgentCommandResult',
    summary: 'Send the result of a command',
    description: `Stores the result of a command. A result that is sent again changes nothing. ${signing}`,
    body: AgentCommandResult,
    rawBody: true,
    status: 204,
    problems: ['invalid_token', 'token_revoked', 'not_found'],
    run: ({ hub }, { request, ip }) => receiveCommandResult(hub, { request, ip }),
  }),
])
