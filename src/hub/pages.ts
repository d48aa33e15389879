import { Elysia, type AnyElysia } from 'elysia'
import swaggerBundle from 'swagger-ui-dist/swagger-ui-bundle.js' with { type: 'file' }
import swaggerStyle from 'swagger-ui-dist/swagger-ui.css' with { type: 'file' }
import dashboardScript from '../dashboard/app.js' with { type: 'text' }
import icon from '../dashboard/icon.svg' with { type: 'text' }
import dashboardPage from '../dashboard/index.html' with { type: 'text' }
import dashboardStyle from '../dashboard/style.css' with { type: 'text' }
import referencePage from '../dashboard/swagger.html' with { type: 'text' }
import referenceStyle from '../dashboard/swagger.css' with { type: 'text' }
import referenceScript from '../dashboard/swagger-start.js' with { type: 'text' }
import handbookStyle from '../docs/style.css' with { type: 'text' }
import { missingPage, pageHtml, problemHtml } from '../docs/render'
import type { Hub } from '../core/hub'
import { HeldFile, pageHeaders } from './held-file'
import { openapiText } from './openapi'

const html = 'text/html; charset=utf-8'
const script = 'text/javascript; charset=utf-8'
const style = 'text/css; charset=utf-8'

const page = (text: string) => new HeldFile(text, html, pageHeaders)
const dashboard = page(dashboardPage as unknown as string)

/** Files at a path of their own. The large ones are read when somebody asks for them. */
const files: Record<string, HeldFile | (() => Promise<HeldFile>)> = {
  '/': dashboard,
  '/setup': dashboard,
  '/login': dashboard,
  '/sign-up': dashboard,
  '/invite': dashboard,
  '/incidents/:id': dashboard,
  '/swagger': page(referencePage as unknown as string),
  '/assets/app.js': new HeldFile(dashboardScript, script),
  '/assets/style.css': new HeldFile(dashboardStyle, style),
  '/assets/icon.svg': new HeldFile(icon, 'image/svg+xml'),
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
  for (const path of Object.keys(files)) serve(path, async ({ request }) => (await fileAt(path)).answer(request))
  serve('/docs', ({ request }) => handbook('overview', request))
  serve('/docs/:page', ({ request, params }) => handbook(params.page!, request))
  serve('/problems/:code', ({ request, params }) => answerWith(`problem ${params.code}`, problemHtml(params.code!), request))
  serve('/v1/openapi.json', async ({ request, hub }) => (await description(hub.baseUrl)).answer(request))
  return app
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
