import { listQuery } from '../core/list'
import { createWorkspace, getPlan, getWorkspace, listPlans, listWorkspaces, updateWorkspace, workspaceListing } from './administer'
import { area, route } from './route'
import { Plan, PlanList, Workspace, WorkspaceInput, WorkspaceList, WorkspacePatch } from './workspace-shapes'

export const workspaceRoutes = area('workspaces', 'Workspaces', [
  route({
    method: 'GET', path: '/v1/plans', guard: 'account.read', operationId: 'listPlans', summary: 'List plans', description: 'Every plan with its limits.',
    answer: PlanList, run: ctx => listPlans(ctx),
  }),
  route({
    method: 'GET', path: '/v1/plans/:id', guard: 'account.read', operationId: 'getPlan', summary: 'Read a plan', description: 'A plan with its limits.',
    answer: Plan, run: (ctx, { params }) => getPlan(ctx, params.id!),
  }),
  route({
    method: 'GET', path: '/v1/workspaces', guard: 'account.read', operationId: 'listWorkspaces', summary: 'List workspaces', description: 'The caller’s workspace; for the operator, every one.',
    query: listQuery(workspaceListing), answer: WorkspaceList, run: (ctx, { query }) => listWorkspaces(ctx, query),
  }),
  route({
    method: 'POST', path: '/v1/workspaces', guard: 'operator', action: 'account.workspace.create', operationId: 'createWorkspace', summary: 'Create a workspace',
    description: 'Makes a workspace for a customer. Only the operator may: a full token of the operator’s workspace, or the operator’s session.', body: WorkspaceInput, status: 201,
    answer: Workspace, problems: ['already_exists'], run: (ctx, { body }) => createWorkspace(ctx, body),
  }),
  route({
    method: 'GET', path: '/v1/workspaces/:id', guard: 'account.read', operationId: 'getWorkspace', summary: 'Read a workspace', description: 'A workspace with its plan and network policy.',
    answer: Workspace, run: (ctx, { params }) => getWorkspace(ctx, params.id!),
  }),
  route({
    method: 'PATCH', path: '/v1/workspaces/:id', guard: 'operator', action: 'account.workspace.update', operationId: 'updateWorkspace', summary: 'Edit a workspace',
    description: 'Changes name, plan or network policy (JSON merge patch, RFC 7396). Only the operator may.', body: WorkspacePatch, answer: Workspace, problems: ['already_exists'],
    run: (ctx, { params, body }) => updateWorkspace(ctx, params.id!, body),
  }),
])
