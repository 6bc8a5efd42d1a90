/** Reads the XML that describes a film (`<base>.nfo`) or a show (`tvshow.nfo`) to media servers. It is not trusted. */
import sax from 'sax'
import type { Info, Nfo } from './types.ts'
import { channelIn, dayOf } from './values.ts'

const FILMS = new Set(['movie', 'episodedetails', 'musicvideo', 'video'])
const SHOWS = new Set(['tvshow'])
const MOST_DEPTH = 50
const MOST_IDS = 20
const LONGEST_ID = 200
const USED = new Set(['title', 'plot', 'premiered', 'aired', 'uniqueid', 'id'])
/** Jellyfin writes the id of each provider into a separate element, such as `youtubemetadataid`. */
const PROVIDER = /^([a-z]{2,40})id$/
const CHANNEL_ID = /^UC[A-Za-z0-9_-]{22}$/

interface Told {
  texts: Map<string, string>
  /** Ids by their type, in lower case and without spaces. */
  ids: Map<string, string>
}

/** Parses the text. Declared entities are never expanded. */
function parseNfo(text: string, roots: ReadonlySet<string>): Told {
  const texts = new Map<string, string>()
  const ids = new Map<string, string>()
  const open: string[] = []
  let within = ''
  let type = ''
  const parser = sax.parser(false, { lowercase: true })
  parser.onerror = () => void parser.resume()
  parser.onopentag = ({ name, attributes }) => {
    if (open.push(name) > MOST_DEPTH) throw new SyntaxError('It is nested too deep')
    type = String(attributes['type'] ?? '')
      .toLowerCase()
      .replace(/\s/g, '')
    within = ''
  }
  parser.ontext = parser.oncdata = (piece) => void (within += piece)
  parser.onclosetag = () => {
    const name = open.pop()!
    const [, provider] = PROVIDER.exec(name === 'uniqueid' ? '' : name) ?? []
    const isOfRoot = open.length === 1 && roots.has(open[0]!) && (provider !== undefined || USED.has(name))
    const value = within.trim()
    within = ''
    if (!isOfRoot || value === '') return
    const key = provider ?? (name === 'uniqueid' ? type : name === 'id' ? '' : undefined)
    if (key === undefined) texts.set(name, texts.get(name) ?? value)
    else if (ids.size < MOST_IDS && value.length <= LONGEST_ID) ids.set(key, ids.get(key) ?? value)
  }
  parser.write(text.replace(/^\uFEFF/, '')).close()
  return { texts, ids }
}

/** @returns undefined: it does not describe a film */
export function nfoOf(text: string): Nfo | undefined {
  const { texts, ids } = parseNfo(text, FILMS)
  const info = factsOf(texts)
  return ids.size + Object.keys(info).length > 0 ? { ids: Object.fromEntries(ids), info } : undefined
}

/** The channel of a show. @returns undefined: the file does not name one */
export function channelInShow(text: string): Info | undefined {
  const { texts, ids } = parseNfo(text, SHOWS)
  const id = [...ids.values()].find((one) => CHANNEL_ID.test(one)) ?? channelIn(texts.get('plot') ?? '')
  const name = texts.get('title')
  return id === undefined ? undefined : { channel_id: id, ...(name !== undefined && { channel: name }) }
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
