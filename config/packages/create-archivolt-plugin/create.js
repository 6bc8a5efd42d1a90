#!/usr/bin/env node
/** `npm create archivolt-plugin`: asks for a name and parts, and writes a plugin that passes its test. */
import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { parseArgs } from 'node:util'
import { filesOf, PARTS } from './template.js'

const NAME = /^[a-z][a-z0-9]{0,39}$/

async function main() {
  const { values, positionals } = parseArgs({ allowPositionals: true, options: { parts: { type: 'string' } } })
  const [given] = positionals
  const asked = given === undefined || values.parts === undefined ? await ask(given, values.parts) : {}
  const name = nameOf(given ?? asked.name)
  const parts = partsOf(values.parts ?? asked.parts)
  const folder = resolve(`archivolt-plugin-${name}`)
  if (existsSync(folder)) throw new Error(`${folder} is there already: choose another name, or remove it`)
  for (const [path, text] of Object.entries(filesOf(name, parts))) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), text)
  }
  process.stdout.write(`Made ${folder}. Now: cd archivolt-plugin-${name} && npm install && npm test\n`)
}

/** Without a terminal nobody answers: all parts, and a name must be given. */
async function ask(name, parts) {
  if (!process.stdin.isTTY) return { name, parts: parts ?? PARTS.join() }
  const lines = createInterface({ input: process.stdin, output: process.stdout })
  try {
    return {
      name: name ?? (await lines.question('Name of the plugin (lower-case letters and digits): ')).trim(),
      parts: parts ?? ((await lines.question(`Its parts (${PARTS.join(', ')}; nothing: all): `)).trim() || PARTS.join()),
    }
  } finally {
    lines.close()
  }
}

function nameOf(name) {
  if (name !== undefined && NAME.test(name)) return name
  const what = name ? `${JSON.stringify(name)} cannot be its name` : 'The plugin has no name yet'
  throw new Error(`${what}: use up to 40 lower-case letters and digits, a letter first, such as: npm create archivolt-plugin tide`)
}

function partsOf(text) {
  const parts = text.split(/[\s,]+/).filter((part) => part !== '')
  const unknown = parts.find((part) => !PARTS.includes(part))
  if (unknown !== undefined) throw new Error(`There is no part ${JSON.stringify(unknown)}: choose of ${PARTS.join(', ')}`)
  return new Set(parts)
}

try {
  await main()
} catch (error) {
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 1
}
