/** The dashboard for Grafana uses only existing metrics and labels. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { aChannel, aQueued, aVideo, testApp } from 'archivolt/testing'
import { ROOT } from '../../support/sources.ts'

interface Dashboard {
  panels: Array<{ title: string; targets: Array<{ expr: string; legendFormat: string }> }>
}

test('each panel of the dashboard uses metrics that are served, with labels that they have', async (t) => {
  const { panels } = JSON.parse(await readFile(join(ROOT, 'config/grafana.json'), 'utf8')) as Dashboard
  const app = await testApp(t)
  await app.given(aChannel({ id: 'UC1' }), aVideo({ id: 'v1' }), aQueued({ id: 'waiting0001' }))
  const read = async () => (await app.as('admin').get('/metrics')).text
  await read()
  await app.as('admin').get('/api/video/v1/')
  await app.as('admin').post('/api/backup/', {})
  await app.settled()
  const text = await read()
  const labels = new Map<string, Set<string>>()
  for (const [, name, inner = ''] of text.matchAll(/^(\w+)(?:\{(.*)\})? \S+$/gm)) {
    const known = labels.get(name!) ?? new Set()
    for (const [, label] of inner.matchAll(/(\w+)="/g)) known.add(label!)
    labels.set(name!, known)
  }

  const asked = panels.flatMap(({ title, targets }) =>
    targets.map(({ expr, legendFormat }) => ({
      title,
      names: [...expr.matchAll(/\b(?:archivolt|process|nodejs)_\w+/g)].map(([name]) => name),
      labels: [...`${expr} ${legendFormat}`.matchAll(/\{\{(\w+)\}\}|by \(([^)]*)\)|\{(\w+)=/g)].flatMap(
        ([, ...found]) => found.filter(Boolean).flatMap((one) => one!.split(', ')),
      ),
    })),
  )

  assert.ok(asked.length >= panels.length && panels.length >= 10)
  assert.deepEqual(
    asked.filter(({ names }) => names.length === 0 || names.some((name) => !labels.has(name))),
    [],
  )
  assert.deepEqual(
    asked.filter(({ names, labels: wanted }) => wanted.some((label) => !labels.get(names[0]!)?.has(label))),
    [],
  )
})
