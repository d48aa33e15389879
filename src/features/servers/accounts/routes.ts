import { crud } from '../../../api/crud'
import { area, route } from '../../../api/route'
import { Action } from '../../actions/shapes'
import {
  checkCloudAccount,
  createCloudAccount,
  deleteCloudAccount,
  getCloudAccount,
  listCloudAccounts,
  testCloudAccountSettings,
  updateCloudAccount,
} from './accounts'
import { listImages, listLocations, listNetworks, listSizes } from './catalog'
import { CatalogQuery, CloudImageList, CloudLocationList, CloudNetworkList, CloudSizeList } from './catalog-shapes'
import { listCloudKinds } from './kinds'
import {
  CloudAccount,
  CloudAccountCheckInput,
  CloudAccountCheckResult,
  CloudAccountInput,
  CloudAccountList,
  CloudAccountPatch,
  CloudAccountQuery,
  CloudKindInfoList,
} from './shapes'
import { syncCloudAccount } from './sync-action'
import { claimServers, listUnclaimed } from './unclaimed'
import { CloudClaim, CloudClaimResult, UnclaimedServerList } from './unclaimed-shapes'

const read = 'cloud.read'
const write = 'cloud.write'

const catalog = (
  path: string,
  noun: string,
  operationId: string,
  response: any,
  run: (...request: Parameters<typeof listLocations>) => Promise<object>,
) =>
  route({
    method: 'GET',
    path: `/v1/cloud-accounts/:id/${path}`,
    guard: read,
    operationId,
    summary: `List ${noun} of a cloud account`,
    description: `Lists the ${noun} that the cloud offers, on one page. The catalog of a cloud is read at most once an hour, unless \`refresh\` is set.`,
    query: CatalogQuery,
    response,
    problems: ['provider_failed', 'rate_limited'],
    run: (ctx, { params, query }) => run(ctx, params.id!, query),
  })

export const cloudAccountRoutes = area('cloud-accounts', 'Servers and cloud', [
  route({
    method: 'GET',
    path: '/v1/cloud-kinds',
    guard: read,
    restrictedTokens: 'all',
    operationId: 'listCloudKinds',
    summary: 'List cloud kinds',
    description: 'Lists the supported kinds of clouds, with their settings and capabilities, on one page.',
    response: CloudKindInfoList,
    run: async () => listCloudKinds(),
  }),
  ...crud({
    type: 'cloud_account',
    response: CloudAccount,
    list: {
      description: 'Lists the cloud accounts of the workspace by name, on one page.',
      query: CloudAccountQuery,
      response: CloudAccountList,
      run: listCloudAccounts,
    },
    create: {
      description:
        'Adds a cloud account. It is checked right after the response, and its servers are read then; until then its `state` is `unknown`. ' +
        'Secrets are part of `settings`, and are never returned. Setting `spend` requires `account.write`. A workspace can have up to 20 accounts (409).',
      body: CloudAccountInput,
      problems: ['conflict', 'already_exists'],
      run: createCloudAccount,
    },
    get: { description: 'Returns a cloud account, without secrets.', run: getCloudAccount },
    update: {
      description:
        'Updates the given fields, including those within `settings` (JSON merge patch, RFC 7396). Omitted secrets are kept, but must be sent again if a ' +
        'change would send them to another server. Changing `spend` requires `account.write`.',
      body: CloudAccountPatch,
      problems: ['conflict', 'already_exists'],
      run: updateCloudAccount,
    },
    delete: {
      description:
        'Deletes a cloud account with its secrets, and the servers that were found in it. Nothing changes at the cloud. Accounts with servers that were created here can’t be deleted (409).',
      problems: ['conflict'],
      run: deleteCloudAccount,
    },
    verbs: {
      check: {
        description:
          'Checks whether the cloud can be reached, and returns the result in `state`, `detail`, and `last_error`. Nothing changes at ' +
          'the cloud. Limited to 5 requests a minute per account. Accounts are also checked automatically every 10 minutes.',
        problems: ['conflict', 'rate_limited'],
        run: checkCloudAccount,
      },
      sync: {
        description:
          'Starts an action that reads all servers of the account. They are also read automatically. Limited to 10 requests a minute per account.',
        status: 202,
        response: Action,
        collection: '/v1/actions',
        problems: ['resource_locked', 'rate_limited'],
        run: syncCloudAccount,
      },
      claim: {
        summary: 'Add servers of a cloud account',
        description: 'Adds servers that exist in the account to the workspace. Nothing changes at the cloud.',
        body: CloudClaim,
        response: CloudClaimResult,
        problems: ['plan_limit_reached', 'provider_failed', 'rate_limited'],
        run: claimServers,
      },
    },
  }),
  route({
    method: 'POST',
    path: '/v1/cloud-checks',
    guard: write,
    action: 'cloud.account.validate',
    operationId: 'testCloudAccountSettings',
    summary: 'Test settings of a cloud account',
    description:
      'Checks whether a cloud can be reached with these settings, before you create the account. A failed check is returned as a result, not ' +
      'as an error. Nothing is stored, and nothing changes at the cloud. Limited to 10 requests a minute per workspace.',
    body: CloudAccountCheckInput,
    response: CloudAccountCheckResult,
    problems: ['rate_limited'],
    run: (ctx, { body }) => testCloudAccountSettings(ctx, body),
  }),
  catalog('locations', 'locations', 'listCloudLocations', CloudLocationList, listLocations),
  catalog('sizes', 'sizes', 'listCloudSizes', CloudSizeList, listSizes),
  catalog('images', 'images', 'listCloudImages', CloudImageList, listImages),
  catalog('networks', 'networks', 'listCloudNetworks', CloudNetworkList, listNetworks),
  route({
    method: 'GET',
    path: '/v1/cloud-accounts/:id/unclaimed',
    guard: read,
    operationId: 'listUnclaimedServers',
    summary: 'List servers that are not in the workspace',
    description:
      'Lists the servers of a cloud account that are not in the workspace, on one page. Reads the account at the cloud. Limited to 10 requests a minute per account.',
    response: UnclaimedServerList,
    problems: ['provider_failed', 'rate_limited'],
    run: (ctx, { params }) => listUnclaimed(ctx, params.id!),
  }),
])
