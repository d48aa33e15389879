import { auditDrafts } from '../../../core/change'
import type { Consequences } from '../../../core/change-result'
import type { Ctx } from '../../../core/ctx'
import type { Tx } from '../../../core/db/transaction'
import { targetOf } from '../../../core/rows'
import type { AgentFacts } from '../../../wire/agent'
import { insertAddedServer, serverViews } from '../servers'
import { serverRows, type ServerRow } from '../view'
import { kindOf } from './enrolment'

/**
 * Adds a server for an agent whose machine isn’t known, within a change.
 * @throws Problem 403 `plan_limit_reached`
 */
export async function addServerForAgent(
  tx: Tx,
  ctx: Ctx,
  { name, facts, labels, monitor }: { name: string; facts: AgentFacts; labels: Record<string, string>; monitor: boolean },
): Promise<{ row: ServerRow; effects: Consequences }> {
  const input = { name: name.slice(0, 100), labels, kind: kindOf(facts.virtualization), monitor }
  const { row, monitored } = await insertAddedServer(tx, ctx, input)
  const created = { result: null, target: targetOf(serverRows, row), before: null, after: (await serverViews(tx, [row]))[0]! }
  const audits = [...auditDrafts(ctx, 'cloud.server.create', created), ...(monitored.audits ?? [])]
  return { row, effects: { ...monitored, audits } }
}
