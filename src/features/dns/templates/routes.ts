import { crud } from '../../../api/crud'
import { area, route } from '../../../api/route'
import { listQuery } from '../../../core/list'
import { Action } from '../../actions/shapes'
import { bindingListing, bindingsOfTemplate, bindingsOfZone } from './binding-rows'
import {
  ApplyResult,
  ApplyInput,
  BindingApplyInput,
  BindingDetail,
  Binding,
  BindingList,
  BindingPatch,
  BindingPreviewInput,
  Preview,
  PreviewInput,
  RolloutInput,
  UnbindQuery,
} from './binding-shapes'
import { applyBinding, applyTemplate } from './apply'
import { deleteBinding, getBinding, listBindings, listBindingsOfTemplate, listBindingsOfZone, updateBinding } from './bindings'
import { previewBinding, previewTemplate } from './preview'
import { rollOut } from './rollout'
import { Template, TemplateInput, TemplateList, TemplatePatch, TemplateVersionList } from './shapes'
import {
  createTemplate,
  deleteTemplate,
  getTemplate,
  listTemplates,
  listVersions,
  templateListing,
  updateTemplate,
  versionListing,
} from './templates'

const read = 'dns.read'
const write = 'dns.write'
const applying = ['conflict', 'plan_blocked', 'plan_limit_reached', 'record_driven'] as const

export const dnsTemplateRoutes = area('dns-templates', 'DNS', [
  ...crud({
    type: 'dns_template',
    response: Template,
    list: {
      description: 'Lists the templates of the workspace and the built-in templates.',
      listing: templateListing,
      response: TemplateList,
      run: listTemplates,
    },
    create: {
      description:
        'Creates a template: records with variables such as `{{name}}`. Undeclared and unused variables are rejected, as are ' +
        'values that are invalid for their record type when filled in with defaults or sample values. A workspace can have up to 200 templates (409), ' +
        'each of up to 128 KiB.',
      body: TemplateInput,
      problems: ['conflict'],
      run: createTemplate,
    },
    get: {
      description: 'Returns the current version of a template with its variables and records.',
      run: getTemplate,
    },
    update: {
      description:
        'Updates the given fields (JSON merge patch, RFC 7396) and creates a new version. Built-in templates can’t be updated (409). Zones don’t change: ' +
        'linked bindings are `outdated` until you roll out the template or apply them.',
      body: TemplatePatch,
      problems: ['conflict'],
      run: updateTemplate,
    },
    delete: {
      description:
        'Deletes a template and its bindings. Records it created are kept in their zones. Built-in templates, and templates with `linked` bindings, ' +
        'can’t be deleted (409).',
      problems: ['conflict'],
      run: deleteTemplate,
    },
    verbs: {
      preview: {
        description:
          'Returns what applying the template would change, record by record, including conflicts and the safety checks that would ' +
          'block it.',
        body: PreviewInput,
        response: Preview,
        problems: ['plan_limit_reached', 'record_driven'],
        run: previewTemplate,
      },
      apply: {
        description:
          'Adds the records of a template to a zone, atomically, and creates a binding. Errors point to the variable, or to the ' +
          'record of the template (`#/records/2/content`). If records conflict, the response is a 409 that lists them in `conflicts`. ' +
          'Applying a template twice to the same name as `linked` returns 409 `already_exists`. A zone can have up to 500 bindings (409).',
        body: ApplyInput,
        status: 201,
        collection: '/v1/dns/template-bindings',
        response: ApplyResult,
        problems: [...applying, 'already_exists'],
        run: applyTemplate,
      },
    },
  }),
  route({
    method: 'GET',
    path: '/v1/dns/templates/:id/versions',
    guard: read,
    operationId: 'listDnsTemplateVersions',
    summary: 'List versions of a DNS template',
    description: 'Lists the last 50 versions of a template. Built-in templates have none.',
    query: listQuery(versionListing),
    response: TemplateVersionList,
    run: (ctx, { params, query }) => listVersions(ctx, params.id!, query),
  }),
  route({
    method: 'POST',
    path: '/v1/dns/templates/:id/rollout',
    guard: write,
    action: 'dns.template.roll_out',
    operationId: 'rollOutDnsTemplate',
    summary: 'Roll out a DNS template',
    description:
      'Updates the zones with a `linked` binding of the template to its latest version. By default, bindings whose records were edited in the zone are skipped (`modified`). Zones are updated independently: if one fails, its ' +
      'binding becomes `failed` with the reason, and the others continue. Returns an action. While another rollout of the template is running, the response is 409 `resource_locked`.',
    body: RolloutInput,
    status: 202,
    collection: '/v1/actions',
    response: Action,
    problems: ['resource_locked'],
    run: (ctx, { params, body }) => rollOut(ctx, params.id!, body),
  }),
  route({
    method: 'GET',
    path: '/v1/dns/templates/:id/bindings',
    guard: read,
    operationId: 'listBindingsForDnsTemplate',
    summary: 'List bindings of a DNS template',
    description: 'Lists the bindings of a template. A binding records the zone and name the template was applied to.',
    query: listQuery(bindingsOfTemplate),
    response: BindingList,
    run: (ctx, { params, query }) => listBindingsOfTemplate(ctx, params.id!, query),
  }),
  route({
    method: 'GET',
    path: '/v1/dns/zones/:id/template-bindings',
    guard: read,
    operationId: 'listTemplateBindingsForZone',
    summary: 'List template bindings of a zone',
    description: 'Lists the template bindings of a zone.',
    query: listQuery(bindingsOfZone),
    response: BindingList,
    run: (ctx, { params, query }) => listBindingsOfZone(ctx, params.id!, query),
  }),
  ...crud({
    type: 'template_binding',
    response: Binding,
    writes: { restrictedTokens: 'handler' },
    list: {
      description:
        'Lists the template bindings in all zones of the workspace. A binding records the zone and name that a template was applied to.',
      listing: bindingListing,
      response: BindingList,
      run: listBindings,
    },
    get: {
      restrictedTokens: 'handler',
      description: 'Returns a binding with its state, the records that it added, and the differences between these and the zone.',
      response: BindingDetail,
      run: getBinding,
    },
    update: {
      description:
        'Updates variables or the mode (JSON merge patch, RFC 7396). The zone doesn’t change until you apply the binding.',
      body: BindingPatch,
      problems: ['already_exists'],
      run: updateBinding,
    },
    delete: {
      description:
        'Deletes a binding. The records that the template added are kept in the zone unless you pass `records=remove`.',
      query: UnbindQuery,
      problems: ['validation_failed', 'plan_blocked', 'record_driven'],
      run: deleteBinding,
    },
    verbs: {
      preview: {
        action: 'dns.template.preview',
        description:
          'Returns what updating the zone to the latest version of the template would change, including manual edits it would ' +
          'revert.',
        body: BindingPreviewInput,
        response: Preview,
        problems: ['plan_limit_reached', 'record_driven'],
        run: previewBinding,
      },
      apply: {
        description:
          'Updates the zone to the latest version of the template, with the variables of the binding or new ones. Reverts manual ' +
          'edits of essential records. Edits of other records are kept.',
        body: BindingApplyInput,
        response: ApplyResult,
        problems: [...applying, 'precondition_failed'],
        run: applyBinding,
      },
    },
  }),
])
