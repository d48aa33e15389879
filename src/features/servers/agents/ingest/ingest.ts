import { Type } from '@sinclair/typebox'
import type { AnyElysia } from 'elysia'
import { area, route } from '../../../../api/route'
import { enrollAgent } from './enroll'
import { AgentEnrolled, AgentEnrolmentInput, AgentWaiting } from './shapes'

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
    // The handler checks the key first.
    envelope: Type.Unknown(),
    status: 201,
    noLocation: true,
    response: AgentEnrolled,
    otherStatus: { status: 202, response: AgentWaiting, applies: result => 'state' in (result as object) },
    problems: ['invalid_token', 'token_expired', 'token_revoked', 'plan_limit_reached', 'conflict'],
    run: (ctx, { request, ip, body }) => enrollAgent(ctx, { request, ip, body }),
  }),
])
