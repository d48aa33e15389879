import { crud } from '../../api/crud'
import { area, route } from '../../api/route'
import { Action } from '../actions/shapes'
import { listAccountDomains } from './account-domains'
import {
  checkRegistrarAccount,
  createRegistrarAccount,
  deleteRegistrarAccount,
  getRegistrarAccount,
  listRegistrarAccounts,
  testRegistrarAccountSettings,
  updateRegistrarAccount,
} from './accounts'
import { listRegistrarKinds } from './kinds-list'
import {
  RegistrarAccount,
  RegistrarAccountCheckInput,
  RegistrarAccountCheckResult,
  RegistrarAccountDomainList,
  RegistrarAccountDomainQuery,
  RegistrarAccountInput,
  RegistrarAccountList,
  RegistrarAccountPatch,
  RegistrarAccountQuery,
  RegistrarKindInfoList,
} from './shapes'
import { syncRegistrarAccount } from './sync-action'

const read = 'domains.read'
const write = 'domains.write'

export const registrarRoutes = area('registrars', 'Domains', [
  route({
    method: 'GET',
    path: '/v1/registrar-kinds',
    guard: read,
    restrictedTokens: 'all',
    operationId: 'listRegistrarKinds',
    summary: 'List registrar kinds',
    description: 'Lists the supported kinds of registrars, with their settings and capabilities, on one page.',
    response: RegistrarKindInfoList,
    run: async () => listRegistrarKinds(),
  }),
  ...crud({
    type: 'registrar_account',
    response: RegistrarAccount,
    list: {
      description: 'Lists the registrar accounts of the workspace by name, on one page.',
      query: RegistrarAccountQuery,
      response: RegistrarAccountList,
      run: listRegistrarAccounts,
    },
    create: {
      description:
        'Adds an account at a registrar. It is checked right after the response, and its domains are read then; until then its `state` is `unknown`. Secrets are part of ' +
        '`settings`, and are never returned. Setting `purchases` requires `account.write`. A workspace can have up to 50 accounts (409).',
      body: RegistrarAccountInput,
      problems: ['conflict', 'already_exists'],
      run: createRegistrarAccount,
    },
    get: {
      description: 'Returns a registrar account, without secrets, and the result of its last health check.',
      run: getRegistrarAccount,
    },
    update: {
      description:
        'Updates the given fields, including those within `settings` (JSON merge patch, RFC 7396). Omitted secrets are kept, but must be sent again if a ' +
        'change would send them to another server. Changing `purchases` requires `account.write`.',
      body: RegistrarAccountPatch,
      problems: ['conflict', 'already_exists'],
      run: updateRegistrarAccount,
    },
    delete: {
      description: 'Deletes a registrar account and its secrets. Its domains become `manual`. Nothing changes at the registrar.',
      run: deleteRegistrarAccount,
    },
    verbs: {
      check: {
        description:
          'Checks whether the registrar can be reached, and returns the result in `state`, `detail`, `balance`, and `last_error`. Nothing changes at ' +
          'the registrar. Limited to 5 requests a minute per account. Accounts are also checked automatically every hour.',
        problems: ['conflict', 'rate_limited'],
        run: checkRegistrarAccount,
      },
      sync: {
        description:
          'Starts an action that reads all domains of the account. They are also read automatically, about every 6 hours. Limited to 3 requests a minute per account.',
        status: 202,
        response: Action,
        collection: '/v1/actions',
        problems: ['resource_locked', 'rate_limited'],
        run: syncRegistrarAccount,
      },
    },
  }),
  route({
    method: 'POST',
    path: '/v1/registrar-account-checks',
    guard: write,
    action: 'domains.registrar.validate',
    operationId: 'testRegistrarAccountSettings',
    summary: 'Test settings of a registrar account',
    description:
      'Checks whether a registrar can be reached with these settings, before you create the account. A failed check is returned as a result, not ' +
      'as an error. Nothing is stored, and nothing changes at the registrar. Limited to 10 requests a minute per workspace.',
    body: RegistrarAccountCheckInput,
    response: RegistrarAccountCheckResult,
    problems: ['rate_limited'],
    run: (ctx, { body }) => testRegistrarAccountSettings(ctx, body),
  }),
  route({
    method: 'GET',
    path: '/v1/registrar-accounts/:id/domains',
    guard: read,
    operationId: 'listRegistrarAccountDomains',
    summary: 'List domains in a registrar account',
    description:
      'Lists the domains that the account has now, by name. Each page queries the registrar. Limited to 10 requests a minute per account.',
    query: RegistrarAccountDomainQuery,
    response: RegistrarAccountDomainList,
    problems: ['invalid_cursor', 'provider_failed', 'rate_limited'],
    run: (ctx, { params, query }) => listAccountDomains(ctx, params.id!, query),
  }),
])
