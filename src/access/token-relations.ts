import { inArray } from 'drizzle-orm'
import { rowsById, type Relations } from '../core/relation'
import type { TokenMaker, TokenView } from './shapes'
import { users } from './tables'
import { tokenListing } from './tokens'

export const tokenRelations: Relations = {
  created_by: {
    idOf: (token: TokenView) => token.created_by,
    permission: 'account.read',
    async load(ctx, ids) {
      const people = ids.filter(id => id.startsWith('usr_'))
      const [persons, makers] = await Promise.all([
        people.length > 0
          ? ctx.hub.read.select({ id: users.id, name: users.name }).from(users).where(inArray(users.id, people))
          : [],
        rowsById(
          ctx,
          tokenListing,
          ids.filter(id => id.startsWith('tok_')),
        ),
      ])
      const found: TokenMaker[] = [
        ...persons.map(one => ({ type: 'user' as const, ...one, hint: null })),
        ...makers.map(({ id, name, hint }) => ({ type: 'token' as const, id, name, hint })),
      ]
      return new Map(found.map(one => [one.id, one]))
    },
  },
}
