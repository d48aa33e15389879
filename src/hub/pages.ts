import { Elysia, type AnyElysia } from 'elysia'
import swaggerBundle from 'swagger-ui-dist/swagger-ui-bundle.js' with { type: 'file' }
import swaggerStyle from 'swagger-ui-dist/swagger-ui.css' with { type: 'file' }
import { pages } from '../dashboard/pages'
import referencePage from '../dashboard/reference/swagger.html' with { type: 'text' }
import referenceStyle from '../dashboard/reference/swagger.css' with { type: 'text' }
import referenceScript from '../dashboard/reference/swagger-start.js' with { type: 'text' }
import handbookScript from '../docs/handbook.js' with { type: 'text' }
import handbookStyle from '../docs/style.css' with { type: 'text' }
import { outline } from '../docs/outline'
import { missingPage, pageHtml, problemHtml, searchHtml } from '../docs/render'
import type { Hub } from '../core/hub'
import { Problem } from '../core/problem'
import acknowledgeStyle from './acknowledge-page.css' with { type: 'text' }
import { StaticFile, pageHeaders } from './static-file'
import { openapiText } from './openapi'
import { dashboardPage, dashboardFile } from './dashboard-files'

const html = 'text/html; charset=utf-8'
const json = 'application/json; charset=utf-8'
const script = 'text/javascript; charset=utf-8'
const style = 'text/css; charset=utf-8'

const page = (text: string) => new StaticFile(text, html, pageHeaders)

/** Files with fixed paths. Large ones are read when they are first requested. */
const files: Record<string, StaticFile | (() => Promise<StaticFile>)> = {
  '/swagger': page(referencePage as unknown as string),
  '/docs/outline.json': () => Promise.resolve(new StaticFile(JSON.stringify(outline()), json)),
  '/assets/acknowledge.css': new StaticFile(acknowledgeStyle, style),
  '/assets/handbook.css': new StaticFile(handbookStyle, style),
  '/assets/handbook.js': new StaticFile(handbookScript, script),
  '/assets/swagger.css': new StaticFile(referenceStyle, style),
  '/assets/swagger-start.js': new StaticFile(referenceScript, script),
  '/assets/swagger-ui-bundle.js': () => StaticFile.read(swaggerBundle, script),
  '/assets/swagger-ui.css': () => StaticFile.read(swaggerStyle, style),
}

/** Pages: the dashboard, the handbook, the API reference, and the API description. */
export const pageRoutes: AnyElysia = createRoutes()

interface PageRequest {
  request: Request
  params: Record<string, string>
  hub: Hub
}

function createRoutes(): AnyElysia {
  let app: AnyElysia = new Elysia({ name: 'pages' })
  const serve = (path: string, handler: (context: PageRequest) => Response | Promise<Response>) => {
    // Pages also accept a trailing slash; API paths don't.
    const forms = path === '/' || path.startsWith('/v1/') ? [path] : [path, `${path}/`]
    for (const form of forms) app = app.get(form, (context: unknown) => handler(context as PageRequest))
  }
  for (const path of Object.keys(pages)) serve(path.replaceAll('$', ':'), ({ request }) => dashboardPage().respond(request))
  for (const icon of ['icon.svg', 'icon-bad.svg']) serve(`/${icon}`, ({ request }) => dashboardAsset(icon, request))
  serve('/assets/:file', ({ request, params }) => dashboardAsset(`assets/${params.file}`, request))
  for (const path of Object.keys(files)) serve(path, async ({ request }) => (await fileAt(path)).respond(request))
  serve('/docs', ({ request }) => handbook('overview', request))
  serve('/docs/search', ({ request }) => page(searchHtml(new URL(request.url).searchParams.get('q') ?? '')).respond(request))
  serve('/docs/:page', ({ request, params }) => handbook(params.page!, request))
  serve('/problems/:code', ({ request, params }) =>
    renderedPage(`problem ${params.code}`, () => problemHtml(params.code!), request),
  )
  serve('/v1/openapi.json', async ({ request, hub }) => (await description(hub.baseUrl)).respond(request))
  return app
}

function dashboardAsset(path: string, request: Request): Response | Promise<Response> {
  const file = dashboardFile(path)
  if (file === null)
    throw new Problem('not_found', 'This file does not exist. The dashboard may have been updated: reload the page.')
  return file.respond(request)
}

async function fileAt(path: string): Promise<StaticFile> {
  const file = files[path]!
  if (file instanceof StaticFile) return file
  const read = await file()
  files[path] = read
  return read
}

const handbook = (slug: string, request: Request) => renderedPage(`page ${slug}`, () => pageHtml(slug), request)

// Bounded by the number of pages and problem codes: missing pages are not cached.
const rendered = new Map<string, StaticFile>()
let missing: StaticFile | null = null

/** A page, rendered when it is first requested. */
function renderedPage(name: string, render: () => string | null, request: Request): Response | Promise<Response> {
  let file = rendered.get(name)
  if (!file) {
    const text = render()
    if (text === null) return (missing ??= page(missingPage())).respond(request, 404)
    rendered.set(name, (file = page(text)))
  }
  return file.respond(request)
}

const descriptions = new Map<string, Promise<StaticFile>>()

function description(baseUrl: string): Promise<StaticFile> {
  let file = descriptions.get(baseUrl)
  if (!file) {
    file = openapiText(baseUrl).then(text => new StaticFile(text, json))
    descriptions.set(baseUrl, file)
    file.catch(() => descriptions.delete(baseUrl))
  }
  return file
}
