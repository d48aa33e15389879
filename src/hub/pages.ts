import { Elysia, type AnyElysia } from 'elysia'
import swaggerBundle from 'swagger-ui-dist/swagger-ui-bundle.js' with { type: 'file' }
import swaggerStyle from 'swagger-ui-dist/swagger-ui.css' with { type: 'file' }
import { dashboardPaths } from '../dashboard/paths'
import referencePage from '../dashboard/reference/swagger.html' with { type: 'text' }
import referenceStyle from '../dashboard/reference/swagger.css' with { type: 'text' }
import referenceScript from '../dashboard/reference/swagger-start.js' with { type: 'text' }
import handbookStyle from '../docs/style.css' with { type: 'text' }
import { missingPage, pageHtml, problemHtml } from '../docs/render'
import type { Hub } from '../core/hub'
import { Problem } from '../core/problem'
import { HeldFile, pageHeaders } from './held-file'
import { openapiText } from './openapi'
import { dashboardPage, webFile } from './web-files'

const html = 'text/html; charset=utf-8'
const script = 'text/javascript; charset=utf-8'
const style = 'text/css; charset=utf-8'

const page = (text: string) => new HeldFile(text, html, pageHeaders)

/** Files at a path of their own. The large ones are read when somebody asks for them. */
const files: Record<string, HeldFile | (() => Promise<HeldFile>)> = {
  '/swagger': page(referencePage as unknown as string),
  '/assets/handbook.css': new HeldFile(handbookStyle, style),
  '/assets/swagger.css': new HeldFile(referenceStyle, style),
  '/assets/swagger-start.js': new HeldFile(referenceScript, script),
  '/assets/swagger-ui-bundle.js': () => HeldFile.read(swaggerBundle, script),
  '/assets/swagger-ui.css': () => HeldFile.read(swaggerStyle, style),
}

/** What people look at: the first pages of the dashboard, the handbook, the API reference; and the API description itself. */
export const pageRoutes: AnyElysia = makeRoutes()

interface Asked {
  request: Request
  params: Record<string, string>
  hub: Hub
}

function makeRoutes(): AnyElysia {
  let app: AnyElysia = new Elysia({ name: 'pages' })
  const serve = (path: string, answer: (asked: Asked) => Response | Promise<Response>) => {
    // People may type a slash behind a page; an address of the API has one form.
    const forms = path === '/' || path.startsWith('/v1/') ? [path] : [path, `${path}/`]
    for (const form of forms) app = app.get(form, (context: unknown) => answer(context as Asked))
  }
  for (const path of dashboardPaths) serve(path, ({ request }) => dashboardPage().answer(request))
  for (const icon of ['icon.svg', 'icon-bad.svg']) serve(`/${icon}`, ({ request }) => built(icon, request))
  serve('/assets/:file', ({ request, params }) => built(`assets/${params.file}`, request))
  for (const path of Object.keys(files)) serve(path, async ({ request }) => (await fileAt(path)).answer(request))
  serve('/docs', ({ request }) => handbook('overview', request))
  serve('/docs/:page', ({ request, params }) => handbook(params.page!, request))
  serve('/problems/:code', ({ request, params }) => answerWith(`problem ${params.code}`, problemHtml(params.code!), request))
  serve('/v1/openapi.json', async ({ request, hub }) => (await description(hub.baseUrl)).answer(request))
  return app
}

function built(path: string, request: Request): Response {
  const file = webFile(path)
  if (file === null) throw new Problem('not_found', 'There is no such file. A newer dashboard has others: load the page again.')
  return file.answer(request)
}

async function fileAt(path: string): Promise<HeldFile> {
  const file = files[path]!
  if (file instanceof HeldFile) return file
  const read = await file()
  files[path] = read
  return read
}

const handbook = (slug: string, request: Request) => answerWith(`page ${slug}`, pageHtml(slug), request)

// As many as there are pages and codes: names that do not exist are not kept.
const rendered = new Map<string, HeldFile>()

function answerWith(name: string, text: string | null, request: Request): Response {
  if (text === null) return page(missingPage()).answer(request, 404)
  let file = rendered.get(name)
  if (!file) rendered.set(name, (file = page(text)))
  return file.answer(request)
}

const descriptions = new Map<string, HeldFile>()

async function description(baseUrl: string): Promise<HeldFile> {
  let file = descriptions.get(baseUrl)
  if (!file) descriptions.set(baseUrl, (file = new HeldFile(await openapiText(baseUrl), 'application/json; charset=utf-8')))
  return file
}
