/** A QR code as a single SVG path: dark on light in both themes, because many cameras cannot read the opposite. */
import qrcode from 'qrcode-generator'

/** The quiet zone that the standard requires, in modules. */
const QUIET_ZONE = 4
/** Lets the library choose the smallest version that holds the text. */
const ANY_SIZE = 0

export default function QrCode({ text, label }: { text: string; label: string }) {
  const code = qrcode(ANY_SIZE, 'M')
  code.addData(text)
  code.make()
  const side = code.getModuleCount() + 2 * QUIET_ZONE
  return (
    <svg class="qr-code" viewBox={`0 0 ${side} ${side}`} role="img" aria-label={label} shape-rendering="crispEdges">
      <path d={darkModules(code)} />
    </svg>
  )
}

/** A square for each dark module. */
function darkModules(code: ReturnType<typeof qrcode>): string {
  const all = Array.from({ length: code.getModuleCount() }, (_, at) => at)
  const dark = all.flatMap((row) =>
    all.filter((column) => code.isDark(row, column)).map((column) => [row, column] as const),
  )
  return dark.map(([row, column]) => `M${column + QUIET_ZONE} ${row + QUIET_ZONE}h1v1h-1z`).join('')
}
