import { relationTo, rowsById, type Relations } from '../../core/relation'
import { listCloudAccounts } from './accounts/accounts'
import { agentsById } from './agents/rows'
import { agentView } from './agents/view'
import { firewallListing } from './firewalls/firewalls'
import { firewallViews, type FirewallRow } from './firewalls/view'
import type { ServerView } from './shapes'
import { volumeListing, volumeView } from './volumes/volumes'

/** Resources that servers refer to. */
export const serverRelations: Relations = {
  account: {
    idOf: (server: ServerView) => server.account_id,
    permission: 'cloud.read',
    // A workspace has only a few accounts.
    load: async ctx => new Map((await listCloudAccounts(ctx, {})).data.map(one => [one.id, one])),
  },
  agent: {
    idOf: (server: ServerView) => server.agent?.id ?? null,
    permission: 'cloud.read',
    load: async (ctx, ids) =>
      new Map((await agentsById(ctx.hub.read, ctx.workspaceId, ids)).map(row => [row.id, agentView(row)])),
  },
  volumes: {
    ...relationTo(volumeListing, { idOf: () => null, permission: 'cloud.read', view: (_, row) => volumeView(row) }),
    idOf: (server: ServerView) => server.volume_ids,
  },
  firewalls: {
    idOf: (server: ServerView) => server.firewall_ids,
    permission: 'cloud.read',
    load: async (ctx, ids) => {
      const views = await firewallViews(ctx.hub.read, await rowsById<FirewallRow>(ctx, firewallListing, ids))
      return new Map(views.map(one => [one.id, one]))
    },
  },
}
