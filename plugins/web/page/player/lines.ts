/** The lines of a subtitle track for the transcript, as parsed by the browser. */

export interface Line {
  /** Seconds from the start. */
  from: number
  text: string
}

/** Maximum length of a line, up to which cues are joined: a film of two hours has thousands of cues. */
const MOST_S = 8
const MOST_LETTERS = 160
const SENTENCE_END = /[.!?…。！？]["”»)]?$/u
/** Number of previous lines that a cue may repeat, because automatic subtitles scroll. */
const ROLLED = 2

/** @throws Error  the track cannot be read */
export async function readLines(element: HTMLTrackElement): Promise<Line[]> {
  // Browsers do not load a disabled track.
  if (element.track.mode === 'disabled') element.track.mode = 'hidden'
  if (element.readyState < HTMLTrackElement.LOADED)
    await new Promise((resolve) => {
      for (const name of ['load', 'error']) element.addEventListener(name, resolve, { once: true })
    })
  const { cues } = element.track
  if (element.readyState === HTMLTrackElement.ERROR || !cues) throw new Error('the subtitles cannot be read')
  return linesOf([...cues] as VTTCue[])
}

function linesOf(cues: readonly VTTCue[]): Line[] {
  const lines: Line[] = []
  let rolled: string[] = []
  let endS = 0
  for (const cue of cues) {
    const said = (cue.getCueAsHTML().textContent ?? '').split('\n').map((line) => line.trim())
    const fresh = said.filter((line) => line !== '' && !rolled.includes(line))
    rolled = [...rolled, ...fresh].slice(-ROLLED)
    if (fresh.length === 0) continue
    const text = fresh.join(' ')
    const last = lines.at(-1)
    if (last && !SENTENCE_END.test(last.text) && cue.startTime - endS < 1 && fits(last, text, cue.endTime))
      last.text += ` ${text}`
    else lines.push({ from: cue.startTime, text })
    endS = cue.endTime
  }
  return lines
}

const fits = (line: Line, text: string, endS: number): boolean =>
  endS - line.from <= MOST_S && line.text.length + text.length < MOST_LETTERS
