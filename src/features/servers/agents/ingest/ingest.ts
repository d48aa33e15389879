import type { AnyElysia } from 'elysia'
import { area, route } from '../../../../api/route'
import { enrollAgent } from './enroll'
import { receiveReport } from './report'
import { AgentEnrolled, AgentEnrolmentInput, AgentReportAnswer, AgentReportInput, AgentWaiting } from './shapes'

const signing =
  'Requires the token of the agent as a Bearer token. If the agent was enrolled with a public key, `Bailiwick-Signature` must have the form `v1 t=…,n=…,s=…`: the time in ms, which differs from the time of the hub by at most 300 seconds, the number of the request, and the Ed25519 signature in base64 of method, path with query, time, number, and SHA-256 of the body as sent in hexadecimal, separated by line feeds.'
const limits = '20 reports a minute for each agent, and four a second with `backlog`'

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
    description: `Stores what an agent measured and knows about its server. ${signing} The body may be compressed with gzip: it has at most 256 KiB as sent, and 4 MiB decompressed. A report can be sent again: minutes that are stored already are replaced. Limited to ${limits}.`,
    body: AgentReportInput,
    rawBody: true,
    response: AgentReportAnswer,
    problems: ['invalid_token', 'token_revoked', 'conflict', 'overloaded'],
    run: ({ hub }, { request, ip }) => receiveReport(hub, { request, ip }),
  }),
])
