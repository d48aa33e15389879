import { crud } from '../../../api/crud'
import { area, route } from '../../../api/route'
import { listQuery } from '../../../core/list'
import { Action } from '../../actions/shapes'
import { attachFirewall, detachFirewall } from './attach'
import {
  createFirewall,
  deleteFirewall,
  firewallListing,
  getFirewall,
  listFirewalls,
  listVersions,
  updateFirewall,
  versionListing,
} from './firewalls'
import { adoptRules, confirmRules, replaceRules, revertRules } from './rule-operations'
import {
  Firewall,
  FirewallAdopt,
  FirewallAttach,
  FirewallInput,
  FirewallList,
  FirewallPatch,
  FirewallRevert,
  FirewallRulesInput,
  FirewallRulesPreview,
  FirewallRulesQuery,
  FirewallVersionList,
} from './shapes'

const started = { status: 202, response: Action, collection: '/v1/actions' } as const
const guarded = 'Dangerous changes fail with a 409 `plan_blocked`; override the reasons with `allow` and a `note`.'

export const firewallRoutes = area('firewalls', 'Servers and cloud', [
  ...crud({
    type: 'firewall',
    response: Firewall,
    list: {
      listing: firewallListing,
      description: 'Lists the firewalls of the workspace.',
      response: FirewallList,
      run: listFirewalls,
    },
    create: {
      description: `Creates a firewall. It has no effect until it is attached to servers, or its \`label_selector\` selects some. ${guarded} Rules with dynamic IP sources require \`dynamic_ip.read\`.`,
      body: FirewallInput,
      problems: ['already_exists', 'plan_blocked', 'plan_limit_reached'],
      run: createFirewall,
    },
    get: { description: 'Returns a firewall with the state at its servers.', run: getFirewall },
    update: {
      description: `Updates the given fields. Rules are replaced with \`PUT /v1/firewalls/{id}/rules\`. If you change \`label_selector\`, servers are attached and detached; this is not possible with a token that is restricted to some resources. ${guarded}`,
      body: FirewallPatch,
      problems: ['already_exists', 'plan_blocked', 'restricted_token'],
      run: updateFirewall,
    },
    delete: {
      description:
        'Deletes a firewall. It must not be attached to servers, or be in the `firewall_ids` of a server that is not created yet.',
      problems: ['conflict'],
      run: deleteFirewall,
    },
    verbs: {
      attach: {
        description: `Attaches a firewall to servers. From then on, these servers drop all incoming traffic that none of their firewalls allows. ${guarded}`,
        body: FirewallAttach,
        ...started,
        problems: ['plan_blocked', 'resource_locked'],
        run: attachFirewall,
      },
      detach: {
        description: `Detaches a firewall from servers. A server without firewalls accepts all traffic. ${guarded}`,
        body: FirewallAttach,
        ...started,
        problems: ['plan_blocked', 'resource_locked'],
        run: detachFirewall,
      },
      confirm: {
        summary: 'Confirm a change of firewall rules',
        description: 'Confirms a change of rules, so that the previous rules are not restored.',
        problems: ['conflict'],
        run: confirmRules,
      },
      revert: {
        summary: 'Revert the rules of a firewall',
        description: `Restores the previous rules. A change that was not confirmed yet is reverted, and the response is the action that applied it. Otherwise, the rules of the previous version are applied. ${guarded}`,
        body: FirewallRevert,
        ...started,
        problems: ['conflict', 'plan_blocked', 'resource_locked'],
        run: revertRules,
      },
      adopt: {
        summary: 'Adopt the rules at the cloud',
        description: `Replaces the rules of the firewall with the rules that a server has at its cloud, after they were changed there. ${guarded}`,
        body: FirewallAdopt,
        ...started,
        problems: ['conflict', 'plan_blocked', 'resource_locked'],
        run: (ctx, id, body) => adoptRules(ctx, id, body as FirewallAdopt),
      },
    },
  }),
  route({
    method: 'PUT',
    path: '/v1/firewalls/:id/rules',
    guard: 'cloud.write',
    action: 'cloud.firewall.apply',
    operationId: 'replaceFirewallRules',
    summary: 'Replace the rules of a firewall',
    description:
      `Replaces all rules, and starts an action that applies them to the servers. ${guarded} ` +
      'With `confirm_within_seconds`, the previous rules are restored unless the change is confirmed in time, even if the hub was restarted meanwhile. ' +
      'With `dry_run`, nothing is changed: the response has the status 200 and shows what the change would do.',
    query: FirewallRulesQuery,
    body: FirewallRulesInput,
    ...started,
    otherStatus: { status: 200, response: FirewallRulesPreview, applies: result => 'blocked' in (result as object) },
    problems: ['plan_blocked', 'resource_locked'],
    run: (ctx, { params, body, query }) => replaceRules(ctx, params.id!, body, query),
  }),
  route({
    method: 'GET',
    path: '/v1/firewalls/:id/history',
    guard: 'cloud.read',
    operationId: 'listFirewallVersions',
    summary: 'List versions of the rules of a firewall',
    description: 'Lists the versions of the rules, newest first. The last 100 are kept.',
    query: listQuery(versionListing),
    response: FirewallVersionList,
    run: (ctx, { params, query }) => listVersions(ctx, params.id!, query),
  }),
])
