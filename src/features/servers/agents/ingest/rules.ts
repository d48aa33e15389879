import type { FieldProblem } from '../../../../core/problem'
import { isAgentPermission } from '../../../../wire/agent-permissions'

/** Rules for the messages of agents that go beyond their shapes. */

export const permissionProblems = (allow: readonly string[]): FieldProblem[] =>
  allow.flatMap((one, at) =>
    isAgentPermission(one)
      ? []
      : [{ pointer: `#/allow/${at}`, code: 'format', detail: 'must be a known permission, such as `reboot`.' }],
  )
