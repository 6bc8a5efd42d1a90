/** The parts of the frame that only children see. */
export { Answers } from './answers.tsx'
export { TimeLeft, TimeOver } from './time-left.tsx'
