import { crud } from '../../api/crud'
import { area, route } from '../../api/route'
import { reportToken } from './report'
import { rotateToken } from './rotation'
import { TokenList, TokenInput, TokenWithSecret, Token, TokenPatch, TokenRotation, TokenReport } from './shapes'
import { tokenListing, tokenRelations, listTokens, createToken, getToken, updateToken, revokeToken } from './tokens'

export const tokenRoutes = area('tokens', 'Tokens', [
  ...crud({
    type: 'token',
    response: Token,
    list: {
      listing: tokenListing,
      description: 'Lists the API tokens of the workspace, including revoked and expired ones.',
      response: TokenList,
      expands: tokenRelations,
      run: listTokens,
    },
    create: {
      description:
        'Creates an API token. Its value is shown only once, in this response. You can only grant ' +
        'permissions that you have, and only an operator can create a token with full access in the operator’s workspace (403). A token can’t create a token with a later ' +
        'expiry or more addresses than its own (422 `exceeds_caller`).',
      body: TokenInput,
      response: TokenWithSecret,
      secretFields: ['token'],
      problems: ['plan_limit_reached'],
      run: createToken,
    },
    get: {
      description: 'Returns a token with its hint and last use.',
      expands: tokenRelations,
      run: getToken,
    },
    update: {
      description:
        'Updates the name, expiry, and allowed addresses (JSON merge patch, RFC 7396). A token can’t set a later expiry or more ' +
        'addresses than its own (422 `exceeds_caller`). You can’t loosen the restrictions of a token with more access than your own (403). The expiry of a rotated token can only be set earlier (422). Permissions and `resource_ids` can’t be changed: create another token. The restrictions of an expired token can’t be updated either (409).',
      body: TokenPatch,
      problems: ['conflict'],
      run: updateToken,
    },
    delete: {
      action: 'account.token.revoke',
      operationId: 'revokeToken',
      summary: 'Revoke a token',
      description:
        'Revokes a token. It stops working immediately and remains in the list. Pending invitations that it created are revoked too.',
      run: revokeToken,
    },
    verbs: {
      rotate: {
        description:
          'Creates a token that replaces this one, with the same name, permissions, restrictions, and expiry. Its value is shown only ' +
          'once, in this response. The old token expires `grace_seconds` after the new one is first used, or after 30 days if the new one ' +
          'is never used. If `grace_seconds` is 0, it is revoked immediately. The `expires_at` of the old token shows when it expires. ' +
          'You can’t rotate a token with more access than your own (403). A token that has expired, was revoked, or has a replacement that was not revoked can’t be rotated (409).',
        body: TokenRotation,
        status: 201,
        response: TokenWithSecret,
        collection: '/v1/tokens',
        secretFields: ['token'],
        problems: ['conflict', 'precondition_failed'],
        run: rotateToken,
      },
    },
  }),
  route({
    method: 'POST',
    path: '/v1/tokens/report',
    guard: 'anyone',
    action: 'account.token.report',
    operationId: 'reportToken',
    summary: 'Report a leaked token',
    description:
      'Revokes a leaked token. Anyone can send a report. The response is the same whether or not the token exists. Accepts 10 ' +
      'reports a minute per IP address.',
    body: TokenReport,
    status: 204,
    run: (ctx, { body }) => reportToken(ctx, body.token),
  }),
  {
    path: '/v1/tokens/bulk',
    operationId: 'bulkTokens',
    summary: 'Revoke tokens in bulk',
    description: 'Revokes many tokens in one request.',
    action: 'account.token.bulk',
    of: 'Token',
    operations: { revoke: 'revokeToken' },
  },
])
