#!/usr/bin/env node
/** `npm create archivolt-plugin`: asks for a name and parts, and writes a plugin that passes its test. */
import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { parseArgs } from 'node:util'
import { filesOf, MEANINGS, PARTS } from './template.js'

const NAME = /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/
const LONGEST_NAME = 40

const HELP = `npm create archivolt-plugin [name] [-- --parts ${PARTS.join(',')}]

Writes a plugin for Archivolt into the folder archivolt-plugin-<name>, with a test for each of its parts:

${Object.entries(MEANINGS)
  .map(([part, meaning]) => `  ${part.padEnd(12)}${meaning}`)
  .join('\n')}

Without --parts it asks for them; nothing stands for all.
`

async function main() {
  const options = { parts: { type: 'string' }, help: { type: 'boolean', short: 'h' } }
  const { values, positionals } = parseArgs({ allowPositionals: true, options })
  if (values.help) return void process.stdout.write(HELP)
  const [given, unexpected] = positionals
  if (unexpected !== undefined) throw new Error(`Unexpected argument: ${unexpected}. Separate parts by commas: --parts=route,event`)
  const asked = given === undefined || values.parts === undefined ? await ask(given, values.parts) : {}
  const name = nameOf(given ?? asked.name)
  const parts = partsOf(values.parts ?? asked.parts)
  const folder = resolve(`archivolt-plugin-${name}`)
  if (existsSync(folder)) throw new Error(`${folder} already exists: choose another name, or remove it`)
  for (const [path, text] of Object.entries(filesOf(name, parts))) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), text)
  }
  process.stdout.write(`Made ${folder}. Now: cd archivolt-plugin-${name} && npm install && npm test\n`)
}

/** Without a terminal there are no questions: all parts are chosen, and a name must be given. */
async function ask(name, parts) {
  if (!process.stdin.isTTY) return { name, parts: parts ?? PARTS.join() }
  const lines = createInterface({ input: process.stdin, output: process.stdout })
  try {
    return {
      name: name ?? (await lines.question('Name of the plugin (lower-case letters, digits and hyphens): ')).trim(),
      parts: parts ?? ((await lines.question(`Its parts (${PARTS.join(', ')}; nothing: all): `)).trim() || PARTS.join()),
    }
  } finally {
    lines.close()
  }
}

function nameOf(name) {
  if (name !== undefined && name.length <= LONGEST_NAME && NAME.test(name)) return name
  const what = name ? `${JSON.stringify(name)} cannot be its name` : 'The plugin has no name yet'
  throw new Error(`${what}: use up to ${LONGEST_NAME} lower-case letters, digits and hyphens between them, a letter first, such as: npm create archivolt-plugin tide`)
}

function partsOf(text) {
  const parts = text.split(/[\s,]+/).filter((part) => part !== '')
  const unknown = parts.find((part) => !PARTS.includes(part))
  if (unknown !== undefined) throw new Error(`There is no part ${JSON.stringify(unknown)}: choose from ${PARTS.join(', ')}`)
  return new Set(parts)
}

try {
  await main()
} catch (error) {
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 1
}
