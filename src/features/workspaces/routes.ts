import { InvitationInput, InvitationWithCode } from '../people/invitations/shapes'
import { inviteAsOperator } from '../people/invitations/invitations'
import { crud } from '../../api/crud'
import { area, route } from '../../api/route'
import { WorkspaceList, WorkspaceInput, Workspace, WorkspacePatch, WorkspaceSuspension } from './shapes'
import { suspendWorkspace, resumeWorkspace } from './suspension'
import { workspaceListing, listWorkspaces, createWorkspace, getWorkspace, updateWorkspace } from './workspaces'

export const workspaceRoutes = area('workspaces', 'Workspaces', [
  ...crud({
    type: 'workspace',
    response: Workspace,
    writes: { guard: 'operator' },
    list: {
      description: 'Lists the workspaces that you can access: all workspaces for the operator, otherwise the current one.',
      listing: workspaceListing,
      response: WorkspaceList,
      run: listWorkspaces,
    },
    create: {
      description:
        'Creates a workspace without members. To add the first one, send an invitation with `POST /v1/workspaces/{id}/invitations`.',
      body: WorkspaceInput,
      problems: ['already_exists'],
      run: createWorkspace,
    },
    get: { description: 'Returns a workspace with its plan, network policy, and limit overrides.', run: getWorkspace },
    update: {
      description:
        'Updates the name, plan, network policy, and limit overrides (JSON merge patch, RFC 7396). If a limit gets lower, existing resources over the limit are kept, ' +
        'but no new ones can be created. Webhook endpoints over the limit are disabled after 14 days, and data beyond a lower retention limit is deleted.',
      body: WorkspacePatch,
      problems: ['already_exists'],
      run: updateWorkspace,
    },
    verbs: {
      suspend: {
        description:
          'Blocks all access: every request to the workspace, with a token or session, is rejected with 403 `workspace_suspended`, except those to a user’s own sessions, profile, password, two-factor authentication, and passkeys. Checks and the name server continue to run, and pings are still ' +
          'accepted. Webhook deliveries, notifications, and audit streams are paused until the workspace is resumed. Nothing is deleted. The ' +
          'operator’s workspace can’t be suspended (409).',
        body: WorkspaceSuspension,
        problems: ['conflict', 'precondition_failed'],
        run: suspendWorkspace,
      },
      resume: {
        description:
          'Restores access to a suspended workspace. Does nothing if it is not suspended. Webhook deliveries that are `pending` or `retrying` are sent within 5 minutes.',
        problems: ['precondition_failed'],
        run: resumeWorkspace,
      },
    },
  }),
  route({
    method: 'POST',
    path: '/v1/workspaces/:id/invitations',
    guard: 'operator',
    action: 'account.invitation.create',
    operationId: 'inviteToWorkspace',
    summary: 'Invite someone to a workspace',
    description:
      'Invites a person to any workspace, as an owner by default, so that a new workspace gets its first member. The code and the ' +
      'link are shown only once, in this response.',
    body: InvitationInput,
    status: 201,
    response: InvitationWithCode,
    noLocation: true,
    secretFields: ['code', 'link'],
    problems: ['already_exists', 'conflict', 'mail_not_set_up'],
    run: (ctx, { params, body }) => inviteAsOperator(ctx, params.id!, body),
  }),
])
