import type { Relations } from '../../core/relation'
import { listCloudAccounts } from './accounts/accounts'
import type { ServerView } from './shapes'

/** Resources that servers refer to. */
export const serverRelations: Relations = {
  account: {
    idOf: (server: ServerView) => server.account_id,
    permission: 'cloud.read',
    // A workspace has only a few accounts.
    load: async ctx => new Map((await listCloudAccounts(ctx, {})).data.map(one => [one.id, one])),
  },
}
