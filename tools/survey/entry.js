// What the scripts of a survey use of their libraries; esbuild keeps this and drops the rest.
import { initJsPsych } from "jspsych";
import buttons from "@jspsych/plugin-html-button-response";
import form from "@jspsych/plugin-survey-html-form";

export { initJsPsych, buttons, form };
