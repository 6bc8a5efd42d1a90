/** Renders the API's description and the contract as pages: plain HTML, no scripts, no external resources. */
import { createHash } from 'node:crypto'
import { contentPolicy } from 'archivolt'
import { Marked } from 'marked'
import type { Document, Operation } from './description.ts'

const STYLE = `
:root { color-scheme: light dark; --line: #8884; --accent: #c2513a; }
@media (prefers-color-scheme: dark) { :root { --accent: #e8866b; } }
body { font: 14px/1.5 system-ui, sans-serif; max-width: 960px; margin: 0 auto; padding: 16px; }
h1 { font-size: 28px; } h2 { font-size: 20px; margin: 32px 0 8px; }
nav a { margin-right: 12px; } a { color: var(--accent); }
details { border-bottom: 1px solid var(--line); } summary { padding: 8px 4px; cursor: pointer; }
summary:focus-visible { outline: 2px solid var(--accent); }
code, pre { font: 12px/1.5 ui-monospace, monospace; } pre { overflow: auto; padding: 12px; border: 1px solid var(--line); border-radius: 8px; }
.method { display: inline-block; min-width: 56px; font-weight: 600; color: var(--accent); }
table { border-collapse: collapse; width: 100%; } th, td { text-align: left; vertical-align: top; padding: 4px 12px 4px 0; border-bottom: 1px solid var(--line); }
.inside { padding: 0 4px 16px; }
`

export const PAGE_POLICY = contentPolicy({
  'style-src': `'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
})

const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
const escape = (value: unknown): string => String(value).replace(/[&<>"']/g, (character) => ESCAPES[character]!)

export function toPage({ info, servers, paths, tags, components }: Document): string {
  const sections = tags.map(({ name }) => {
    const operations = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).flatMap(([method, operation]) =>
        operation.tags.includes(name) ? [toDetails(method, path, operation)] : [],
      ),
    )
    return `<h2 id="${escape(name)}">${escape(name)}</h2>${operations.join('')}`
  })
  const base = escape((servers[0]?.url ?? '').replace(/\/$/, ''))
  return inPage(
    `${info.title} API`,
    `<h1>${escape(info.title)} API <small>${escape(info.version)}</small></h1>
<p>${escape(info.description)}</p>
<p><a href="${base}/api/schema/">OpenAPI document</a> · <a href="${base}/api/docs/contract/">Contract</a>: what each endpoint means</p>
<nav aria-label="Sections">${tags.map(({ name }) => `<a href="#${escape(name)}">${escape(name)}</a>`).join(' ')}</nav>
${sections.join('\n')}
<h2 id="shapes">Shared shapes</h2>
${toCode(components['schemas'])}`,
  )
}

/** @param markdown  our own text: its HTML is not escaped */
export function toContractPage(markdown: string): string {
  const contract = new Marked({
    renderer: {
      // `9.11 Filesystem rescan` has the anchor #9.11, because code and documents refer to this number.
      heading({ tokens, depth, text }) {
        const id = /^([0-9ABC](?:\.\d+)?)\.? /.exec(text)?.[1]
        return `<h${depth}${id ? ` id="${escape(id)}"` : ''}>${this.parser.parseInline(tokens)}</h${depth}>\n`
      },
    },
  })
  return inPage('Archivolt HTTP API contract', contract.parse(markdown, { async: false }))
}

const inPage = (title: string, content: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escape(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
${content}
</main>
</body>
</html>
`

function toDetails(method: string, path: string, operation: Operation): string {
  return `<details id="${escape(operation.operationId)}">
<summary><span class="method">${escape(method.toUpperCase())}</span> <code>${escape(path)}</code> ${escape(operation.summary)}</summary>
<div class="inside">
${operation.security.length === 0 ? '<p>Open to anybody.</p>' : ''}
${toParameters(operation.parameters)}
${operation.requestBody ? `<h3>Body${operation.requestBody.required ? '' : ' (may be missing)'}</h3>${toContents(operation.requestBody.content)}` : ''}
<h3>Answers</h3>
${Object.entries(operation.responses).map(toAnswer).join('')}
</div>
</details>`
}

function toParameters(parameters: Operation['parameters']): string {
  if (parameters.length === 0) return ''
  const rows = parameters.map(({ name, in: location, required, description = '', schema }) => {
    return `<tr><td><code>${escape(name)}</code></td><td>${location}${required ? ', required' : ''}</td><td>${escape(description)}</td><td><code>${escape(JSON.stringify(schema))}</code></td></tr>`
  })
  return `<table><thead><tr><th>Parameter</th><th>Where</th><th>Meaning</th><th>Form</th></tr></thead><tbody>${rows.join('')}</tbody></table>`
}

function toAnswer([status, { description, content }]: [string, Operation['responses'][string]]): string {
  const isError = Number(status) >= 400
  return `<p><strong>${escape(status)}</strong> ${escape(description)}</p>${content && !isError ? toContents(content) : ''}`
}

const toContents = (content: Record<string, { schema: object }>): string =>
  Object.entries(content)
    .map(([type, { schema }]) => `<p><code>${escape(type)}</code></p>${toCode(schema)}`)
    .join('')

const toCode = (value: unknown): string => `<pre>${escape(JSON.stringify(value, null, 1))}</pre>`
