/** Reads `<base>.nfo`, the XML that describes a film to media servers. Anybody may have written it. */
import sax from 'sax'
import type { Info, Nfo } from './types.ts'
import { dayOf } from './values.ts'

const ROOTS = new Set(['movie', 'episodedetails', 'musicvideo', 'video'])
const MOST_DEPTH = 50
const MOST_IDS = 20
const LONGEST_ID = 200
const KEPT = new Set(['title', 'plot', 'premiered', 'aired', 'uniqueid'])

/** Declared entities are never expanded. @returns undefined: it describes no film */
export function nfoOf(text: string): Nfo | undefined {
  const told = new Map<string, string>()
  const ids = new Map<string, string>()
  const open: string[] = []
  let within = ''
  let type = ''
  const parser = sax.parser(false, { lowercase: true })
  parser.onerror = () => void parser.resume()
  parser.onopentag = ({ name, attributes }) => {
    if (open.push(name) > MOST_DEPTH) throw new SyntaxError('It is nested too deep')
    type = String(attributes['type'] ?? '').toLowerCase()
    within = ''
  }
  parser.ontext = parser.oncdata = (piece) => void (within += piece)
  parser.onclosetag = () => {
    const name = open.pop()!
    const isOfFilm = open.length === 1 && ROOTS.has(open[0]!) && KEPT.has(name)
    const value = within.trim()
    within = ''
    if (!isOfFilm || value === '') return
    if (name !== 'uniqueid') told.set(name, told.get(name) ?? value)
    else if (ids.size < MOST_IDS && value.length <= LONGEST_ID) ids.set(type, ids.get(type) ?? value)
  }
  parser.write(text.replace(/^\uFEFF/, '')).close()
  const info = factsOf(told)
  return ids.size + Object.keys(info).length > 0 ? { ids: Object.fromEntries(ids), info } : undefined
}

function factsOf(told: ReadonlyMap<string, string>): Info {
  const day = dayOf(told.get('premiered')) ?? dayOf(told.get('aired'))
  const [title, description] = [told.get('title'), told.get('plot')]
  return {
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    ...(day !== undefined && { upload_date: day }),
  }
}
