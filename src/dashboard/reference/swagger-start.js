// Shows the API description of this hub. “Try it out” sends requests to this hub, with the session cookie if there is one.
const prefersDark = matchMedia('(prefers-color-scheme: dark)')
const followScheme = () => document.documentElement.classList.toggle('dark-mode', prefersDark.matches)
prefersDark.addEventListener('change', followScheme)
followScheme()

globalThis.SwaggerUIBundle({
  url: '/v1/openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  // The validator badge would send the document to a third-party site.
  validatorUrl: null,
  defaultModelsExpandDepth: 0,
  requestInterceptor(request) {
    const { pathname, search } = new URL(request.url, location.href)
    request.url = location.origin + pathname + search
    if (request.method && request.method !== 'GET' && pathname.startsWith('/v1/')) request.headers['Bailiwick-Csrf'] = '1'
    return request
  },
})
