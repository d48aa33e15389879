import type { TSchema } from '@sinclair/typebox'
import type { AuditChanges, AuditContext } from '../db/tables'

type Channel = AuditContext['channel']

/** One action that the audit log may hold, as the catalogue tells of it. */
export interface AuditActionEntry<A extends string = string> {
  action: A
  /**
   * Two capitals for the area and three digits: with a letter for the outcome it is the code of an entry. Never changed, and never
   * given to another action.
   */
  number: string
  description: string
  /** The ways by which it comes about; a refusal is told under the way by which it was asked for. */
  channels: readonly Channel[]
  /** Types of what it is done to; empty where that is told in words alone. */
  targets: readonly string[]
  /**
   * What an entry may show as changed: the members of what an operation with this action answers, and members beside them. Null
   * where an entry shows no changes.
   */
  changes: { answerOf: string | null; members: Readonly<Record<string, TSchema>> } | null
  /** Changes as an entry has them, for the example. */
  example: AuditChanges | null
}

/** What is asked for in requests, from programs and from the dashboard. */
export const asked: readonly Channel[] = ['api', 'dashboard']

type Draft<A extends string> = Pick<AuditActionEntry<A>, 'action' | 'number' | 'description' | 'targets'> &
  Partial<Pick<AuditActionEntry, 'channels' | 'example'>> & {
    /** `answer`: the members of what its own operation answers; another action's name: those of that one's. */
    changes?: 'answer' | { of?: string; members?: Readonly<Record<string, TSchema>> }
  }

export function auditAction<const A extends string>(draft: Draft<A>): AuditActionEntry<A> {
  const { changes, channels = asked, example = null, ...rest } = draft
  return {
    ...rest,
    channels,
    example,
    changes:
      changes === undefined
        ? null
        : changes === 'answer'
          ? { answerOf: draft.action, members: {} }
          : { answerOf: changes.of ?? null, members: changes.members ?? {} },
  }
}
