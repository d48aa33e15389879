import { crud } from '../../../api/crud'
import { area, route } from '../../../api/route'
import {
  checkAcmeAccountNow,
  createAcmeAccount,
  deactivateAcmeAccount,
  deleteAcmeAccount,
  getAcmeAccount,
  listAcmeAccounts,
  listAcmeDirectories,
  updateAcmeAccount,
} from './accounts'
import { AcmeAccount, AcmeAccountInput, AcmeAccountList, AcmeAccountPatch, AcmeAccountQuery, AcmeDirectoryList } from './shapes'

export const acmeAccountRoutes = area('acme-accounts', 'Certificates', [
  route({
    method: 'GET',
    path: '/v1/acme-directories',
    guard: 'certificates.read',
    restrictedTokens: 'all',
    operationId: 'listAcmeDirectories',
    summary: 'List ACME directories',
    description:
      'Lists common certificate authorities that issue certificates by ACME, on one page. Accounts can use any other directory too, such as the one of a private certificate authority.',
    response: AcmeDirectoryList,
    run: async () => listAcmeDirectories(),
  }),
  ...crud({
    type: 'acme_account',
    response: AcmeAccount,
    list: {
      description: 'Lists the ACME accounts of the workspace by name, on one page.',
      query: AcmeAccountQuery,
      response: AcmeAccountList,
      run: listAcmeAccounts,
    },
    create: {
      description:
        'Registers an account at a certificate authority, with a new key that is stored encrypted and never returned. ' +
        'The certificate authority must be reachable. If it has terms of service, `terms_agreed` must be true. If it only accepts ' +
        'external accounts, `eab` is required; its key is used once and not stored. Limited to 10 requests a minute per workspace. A workspace can have up to 20 accounts (409).',
      body: AcmeAccountInput,
      problems: ['conflict', 'already_exists', 'provider_failed', 'private_key_refused', 'rate_limited'],
      run: createAcmeAccount,
    },
    get: { description: 'Returns an ACME account, without its key.', run: getAcmeAccount },
    update: {
      description:
        'Updates the given fields. A new `contact_email` is sent to the certificate authority right after the response. The directory and the key can’t be changed; register another account instead.',
      body: AcmeAccountPatch,
      problems: ['conflict', 'already_exists', 'private_key_refused'],
      run: updateAcmeAccount,
    },
    delete: {
      description:
        'Deletes an ACME account with its key. It stays valid at the certificate authority; deactivate it first to prevent that.',
      problems: ['conflict'],
      run: deleteAcmeAccount,
    },
    verbs: {
      check: {
        description:
          'Checks whether the certificate authority can be reached and accepts the account, and returns the result in `state`, `detail`, and ' +
          '`last_error`. Limited to 5 requests a minute per account. Accounts are also checked automatically every day.',
        problems: ['conflict', 'rate_limited'],
        run: checkAcmeAccountNow,
      },
      deactivate: {
        description:
          'Deactivates the account at the certificate authority, and destroys its key. This can’t be undone. Certificates that were issued remain valid.',
        problems: ['conflict', 'precondition_failed', 'provider_failed'],
        run: deactivateAcmeAccount,
      },
    },
  }),
])
