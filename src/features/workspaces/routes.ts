import { InvitationInput, NewInvitation } from '../people/invitations/shapes'
import { inviteAsOperator } from '../people/invitations/invitations'
import { area, route } from '../../api/route'
import { listQuery } from '../../core/list'
import { WorkspaceList, WorkspaceInput, Workspace, WorkspacePatch, WorkspaceSuspension } from './shapes'
import { suspendWorkspace, resumeWorkspace } from './suspension'
import { workspaceListing, listWorkspaces, createWorkspace, getWorkspace, updateWorkspace } from './workspaces'

export const workspaceRoutes = area('workspaces', 'Workspaces', [
  route({
    method: 'GET',
    path: '/v1/workspaces',
    guard: 'account.read',
    operationId: 'listWorkspaces',
    summary: 'List workspaces',
    description: 'Lists the workspaces that the caller can access: all workspaces for the operator, otherwise the current one.',
    query: listQuery(workspaceListing),
    response: WorkspaceList,
    run: (ctx, { query }) => listWorkspaces(ctx, query),
  }),
  route({
    method: 'POST',
    path: '/v1/workspaces',
    guard: 'operator',
    action: 'account.workspace.create',
    operationId: 'createWorkspace',
    summary: 'Create a workspace',
    description: 'Creates a workspace.',
    body: WorkspaceInput,
    status: 201,
    response: Workspace,
    problems: ['already_exists'],
    run: (ctx, { body }) => createWorkspace(ctx, body),
  }),
  route({
    method: 'GET',
    path: '/v1/workspaces/:id',
    guard: 'account.read',
    operationId: 'getWorkspace',
    summary: 'Get a workspace',
    description: 'Returns a workspace with its plan, network policy, and limit overrides.',
    response: Workspace,
    run: (ctx, { params }) => getWorkspace(ctx, params.id!),
  }),
  route({
    method: 'PATCH',
    path: '/v1/workspaces/:id',
    guard: 'operator',
    action: 'account.workspace.update',
    operationId: 'updateWorkspace',
    summary: 'Update a workspace',
    description: 'Updates the name, plan, network policy, and limit overrides (JSON merge patch, RFC 7396).',
    body: WorkspacePatch,
    response: Workspace,
    problems: ['already_exists'],
    run: (ctx, { params, body }) => updateWorkspace(ctx, params.id!, body),
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
    response: NewInvitation,
    noLocation: true,
    secretFields: ['code', 'link'],
    problems: ['already_exists', 'conflict', 'mail_not_set_up'],
    run: (ctx, { params, body }) => inviteAsOperator(ctx, params.id!, body),
  }),
  route({
    method: 'POST',
    path: '/v1/workspaces/:id/suspend',
    guard: 'operator',
    action: 'account.workspace.suspend',
    operationId: 'suspendWorkspace',
    summary: 'Suspend a workspace',
    description:
      'Blocks all access: every request to the workspace, by token or session, gets 403 `workspace_suspended`. Pings are still ' +
      'accepted. Webhook deliveries and audit streams are paused until the workspace is resumed. Nothing is deleted. The ' +
      'operator’s workspace cannot be suspended (409).',
    body: WorkspaceSuspension,
    response: Workspace,
    problems: ['conflict'],
    run: (ctx, { params, body }) => suspendWorkspace(ctx, params.id!, body.reason ?? null),
  }),
  route({
    method: 'POST',
    path: '/v1/workspaces/:id/resume',
    guard: 'operator',
    action: 'account.workspace.resume',
    operationId: 'resumeWorkspace',
    summary: 'Resume a workspace',
    description: 'Restores access to a suspended workspace. Paused webhook deliveries are sent within five minutes.',
    response: Workspace,
    run: (ctx, { params }) => resumeWorkspace(ctx, params.id!),
  }),
])
