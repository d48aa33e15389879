import { Type } from '@sinclair/typebox'
import { or, sql } from 'drizzle-orm'
import type { Filter } from '../../../core/listing'
import { Words } from '../../../core/shapes'
import { servers } from '../tables'
import { linkedStates } from './shapes'
import { agents } from './tables'

const choices = [...linkedStates, 'none'] as const

/** Finds servers by the states of their agents. */
export const agentFilter: Filter = {
  schema: Type.Array(Words(choices), {
    minItems: 1,
    maxItems: choices.length,
    description: 'Only servers whose agents have these states; `none`: servers without an agent.',
  }),
  where: (value, bind) => {
    const words = distinctWords(value)
    const agent = sql`select 1 from ${agents} where ${agents.serverId} = ${servers.id}`
    const states = words.filter(word => word !== 'none').map(bind)
    return or(
      states.length > 0 ? sql`exists (${agent} and ${agents.state} in (${sql.join(states, sql`, `)}))` : undefined,
      words.includes('none') ? sql`not exists (${agent})` : undefined,
    )!
  },
  variant: value => distinctWords(value).join('+'),
}

const distinctWords = (value: unknown): string[] => [...new Set(value as string[])].sort()
