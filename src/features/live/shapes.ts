import type { Static } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { workspaceParameter } from '../../api/workspace-parameter'
import { Shape } from '../../core/shapes'

const Id = Type.String({ minLength: 1, maxLength: 40 })

export const StreamQuery = Shape({
  ...workspaceParameter,
  since: Type.Optional(
    Type.String({
      maxLength: 100,
      description:
        'Resume after this position: the ID of an event, or the `position` from `hello`. The Last-Event-ID header takes precedence.',
    }),
  ),
  watch: Type.Optional(
    Type.Array(Id, {
      minItems: 1,
      maxItems: 100,
      uniqueItems: true,
      description: 'IDs of monitors whose check results to stream. Unknown IDs are ignored.',
    }),
  ),
  watch_heartbeats: Type.Optional(
    Type.Array(Id, {
      minItems: 1,
      maxItems: 100,
      uniqueItems: true,
      description: 'IDs of heartbeats whose pings to stream. Unknown IDs are ignored.',
    }),
  ),
  watch_servers: Type.Optional(
    Type.Array(Id, {
      minItems: 1,
      maxItems: 10,
      uniqueItems: true,
      description: 'IDs of servers whose live metrics to stream. Unknown IDs are ignored.',
    }),
  ),
})
export type StreamQuery = Static<typeof StreamQuery>

/** A change as sent in a stream. */
export interface Change {
  type: string
  id: string
  /** Action as in the audit log, or of a change hint. */
  action: string
}

/** Example of a stream, for the API description. */
export const streamExample = [
  'retry: 2000',
  '',
  'event: hello',
  'id: 41-5f0c1a9e-0',
  'data: {"at":"2026-11-21T10:00:00.000Z","position":"41-5f0c1a9e-0"}',
  '',
  'event: change',
  'id: 42-5f0c1a9e-0',
  'data: {"changes":[{"type":"monitor","id":"mon_01jd8f3q7eeb9bv0w0r8c7hq2m","action":"monitor.update"}]}',
  '',
  'event: results',
  'id: 42-5f0c1a9e-0',
  'data: {"monitors":[{"id":"mon_01jd8f3q7eeb9bv0w0r8c7hq2m","status":"up","last_check_at":"2026-11-21T10:00:01.000Z","ok":true,"response_ms":84.2}]}',
  '',
  'event: reset',
  'id: 4711-5f0c1a9e-3',
  'data: {}',
  '',
].join('\n')
