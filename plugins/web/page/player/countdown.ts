/** The countdown to the next video. */
import { useEffect, useState } from 'preact/hooks'

const NEXT_S = 8

/** @returns the remaining seconds; `stop` cancels it */
export function useCountdown(isOn: boolean, go: () => void): { left: number; isStopped: boolean; stop: () => void } {
  const [left, setLeft] = useState(NEXT_S)
  const [isStopped, setStopped] = useState(false)
  useEffect(() => {
    if (isStopped || !isOn) return
    const timer = setTimeout(() => (left > 1 ? setLeft(left - 1) : go()), 1000)
    return () => clearTimeout(timer)
  }, [left, isStopped, isOn])
  return { left, isStopped, stop: () => setStopped(true) }
}
